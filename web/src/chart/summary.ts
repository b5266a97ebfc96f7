// A chart in words: for screen readers, and the notes about what it could not show.

import type { Line, MarkKind } from "../series/curve";
import { count, counted, number } from "../series/format";
import { axisName, xText } from "./axis";
import type { Hidden } from "./extent";

/** How many lines are told one by one. */
const TOLD = 8;

/** Return what a chart shows, line by line. */
export function summaryOf(title: string, xAxis: string, lines: readonly Line[]): string {
  const drawn = lines.filter((line) => !line.faint);
  if (drawn.length === 0) return `${title}: no data`;
  const told = drawn.slice(0, TOLD).map((line) => lineSummary(line, xAxis));
  const more = drawn.length > TOLD ? ` And ${counted(drawn.length - TOLD, "more line")}.` : "";
  return `${title} by ${axisName(xAxis)}, ${counted(drawn.length, "line")}. ${told.join(" ")}${more}`;
}

function lineSummary(line: Line, xAxis: string): string {
  let min = Infinity;
  let max = -Infinity;
  let last = -1;
  for (let i = 0; i < line.y.length; i++) {
    const value = line.y[i] as number;
    if (Number.isNaN(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
    last = i;
  }
  if (last < 0) return `${line.label}: no values.`;
  const where = xText(xAxis, line.x[last] as number);
  return `${line.label}: last ${number(line.y[last] as number)} at ${where}, from ${number(min)} to ${number(max)}.`;
}

export interface Note {
  /** A few characters, shown in the corner. */
  readonly text: string;
  /** The whole sentence. */
  readonly title: string;
}

const NAMES: Record<MarkKind, string> = { nan: "NaN", posinf: "+inf", neginf: "-inf" };
const KINDS: readonly MarkKind[] = ["nan", "posinf", "neginf"];

/** Return what to tell about values that no line shows. */
export function notesOf(lines: readonly Line[], hidden: Hidden): Note[] {
  const notes: Note[] = [];
  for (const kind of KINDS) {
    const lone = lines.filter((line) => !line.faint && line.marks.some((mark) => mark.kind === kind));
    const total = lone.reduce((sum, line) => sum + countMarks(line, kind), 0);
    if (total === 0) continue;
    const each = lone.slice(0, TOLD).map((line) => `${line.label}: ${count(countMarks(line, kind))}`);
    if (lone.length > TOLD) each.push(`and ${counted(lone.length - TOLD, "more line")}`);
    notes.push({
      text: `${count(total)} ${NAMES[kind]}`,
      title: `${counted(total, "logged value")} ${total === 1 ? "is" : "are"} ${NAMES[kind]}\n${each.join("\n")}`,
    });
  }
  if (hidden.above > 0) {
    notes.push({
      text: `↑ ${count(hidden.above)}`,
      title: `${counted(hidden.above, "point")} above the clipped axis`,
    });
  }
  if (hidden.below > 0) {
    notes.push({
      text: `↓ ${count(hidden.below)}`,
      title: `${counted(hidden.below, "point")} below the clipped axis`,
    });
  }
  if (hidden.notPositive > 0) {
    notes.push({
      text: `${count(hidden.notPositive)} ≤ 0`,
      title: `${counted(hidden.notPositive, "value")} of 0 or less: a log axis has no place for them, symlog shows them`,
    });
  }
  return notes;
}

function countMarks(line: Line, kind: MarkKind): number {
  return line.marks.reduce((sum, mark) => (mark.kind === kind ? sum + mark.count : sum), 0);
}
