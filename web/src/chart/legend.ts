// What a legend says of lines.

import type { Line } from "../series/curve";

/** Return the lines that a legend names: those that are not faint, each label once. */
export function legendLines(lines: readonly Line[]): Line[] {
  const named = new Map<string, Line>();
  for (const line of lines) if (!line.faint && !named.has(line.label)) named.set(line.label, line);
  return [...named.values()];
}

export function legendLabel(line: Line): string {
  return line.members > 1 ? `${line.label} (n = ${line.members})` : line.label;
}
