// The points of a panel as CSV (RFC 4180), one row per point in long form: every tool can pivot it, and lines need not
// share their x.

import type { Line } from "../../series/curve";
import { exact } from "../../series/format";
import { axisName, exactX } from "../axis";

/** Return the lines as drawn, faint (raw) ones too; low and high only if a line has them. */
export function csvOf(lines: readonly Line[], xAxis: string, yName: string): string {
  const hasRight = lines.some((line) => line.isRight);
  const hasBand = lines.some((line) => line.low !== null);
  const head = [
    "line",
    axisName(xAxis),
    yName,
    ...(hasBand ? ["low", "high"] : []),
    ...(hasRight ? ["axis"] : []),
  ];
  const rows = [head.map(field).join(",")];
  for (const line of lines) {
    const label = field(line.faint ? `${line.label} (raw)` : line.label);
    for (let i = 0; i < line.x.length; i++) {
      let row = `${label},${exactX(xAxis, line.x[i] as number)},${exact(line.y[i] as number)}`;
      if (hasBand) row += `,${cell(line.low, i)},${cell(line.high, i)}`;
      if (hasRight) row += line.isRight ? ",right" : ",left";
      rows.push(row);
    }
  }
  return `${rows.join("\r\n")}\r\n`;
}

function cell(values: Float64Array | null, i: number): string {
  return values === null ? "" : exact(values[i] as number);
}

/** Quote where it is needed; a text that a spreadsheet would take for a formula is made plain with a quote mark. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
