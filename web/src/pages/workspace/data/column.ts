// A column of the run list as text: a field (`config.lr`, `state`), or what a metric comes to (`min(train/loss)`). Pure.

import { count, dateTime, delta, duration, number, relativeTime } from "../../../series/format";
import type { Digest, RunGroup, RunItem, Statistics } from "../../../server/types";

export const FIGURES = ["min", "max", "mean", "first", "last"] as const;
export type Figure = (typeof FIGURES)[number];

export interface Column {
  readonly text: string;
  readonly title: string;
  /** What it is read from: a field of the list, or a figure of a metric. */
  readonly field: string | null;
  readonly figure: Figure | null;
  readonly key: string | null;
  /** What the list can be sorted by. */
  readonly sort: string;
}

const TITLES: Readonly<Record<string, string>> = {
  created_at: "created",
  created_ns: "created",
  started_ns: "started",
  ended_ns: "ended",
  heartbeat_ns: "last sign",
  changed_ns: "changed",
  num_rows: "rows",
};
const CALL = /^(min|max|mean|first|last)\((.+)\)$/s;

export function columnOf(text: string): Column {
  const call = CALL.exec(text);
  if (call) {
    const figure = call[1] as Figure;
    return { text, title: text, field: null, figure, key: call[2] as string, sort: text };
  }
  const title = TITLES[text] ?? text.replace(/^(config|summary|metadata)\./, "");
  return { text, title, field: text, figure: null, key: null, sort: text };
}

export interface Cell {
  readonly text: string;
  /** In full, for a tooltip. */
  readonly title: string;
  readonly value: number | null;
}

const NONE: Cell = { text: "", title: "", value: null };

/** Return what a column says of a run. */
export function cellOf(column: Column, run: RunItem, digest: Digest | undefined, nowMs: number): Cell {
  if (column.figure !== null) return figureCell(column.figure, digest);
  const value = run.values?.[column.field as string];
  return fieldCell(column.field as string, value, nowMs);
}

/** Return what a column comes to over the runs of a group. */
export function groupFigure({ field }: Column, group: RunGroup | null): Statistics | undefined {
  return field === null ? undefined : group?.metrics[field];
}

function figureCell(figure: Figure, digest: Digest | undefined): Cell {
  if (digest === undefined) return NONE;
  const value = digest[figure];
  if (value === null) return NONE;
  const amount = Number(value);
  const step = {
    min: digest.min_step,
    max: digest.max_step,
    first: digest.first_step,
    last: digest.last_step,
    mean: null,
  }[figure];
  const isBest = figure === "min" || figure === "max";
  return {
    text: isBest && step !== null ? `${number(amount)} @ ${count(step)}` : number(amount),
    title: step === null ? String(value) : `${value} at step ${count(step)}`,
    value: amount,
  };
}

function fieldCell(field: string, value: unknown, nowMs: number): Cell {
  if (value === null || value === undefined) return NONE;
  if (field === "created_at") {
    const at = Date.parse(String(value));
    return { text: ageText(at, nowMs), title: dateTime(at), value: null };
  }
  if (field.endsWith("_ns") && typeof value === "number") {
    return { text: ageText(value / 1e6, nowMs), title: dateTime(value / 1e6), value: null };
  }
  if (field === "runtime" && typeof value === "number") {
    return { text: duration(value), title: `${value} s`, value: null };
  }
  const amount = numberIn(value) ?? chosenFigure(value);
  if (amount !== null) return { text: number(amount), title: plainText(value), value: amount };
  const text = plainText(value);
  return { text, title: text, value: null };
}

/** Of a metric whose summary was defined as several figures (`{"min": …, "last": …}`) the one that a list shows. */
function chosenFigure(value: unknown): number | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const figures = value as Record<string, unknown>;
  for (const name of ["last", "best", "min", "max", "mean", "first"]) {
    const amount = numberIn(figures[name]);
    if (amount !== null) return amount;
  }
  return null;
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Columns are narrow: "2 h" says it. */
function ageText(atMs: number, nowMs: number): string {
  return relativeTime(atMs, nowMs).replace(/ ago$/, "");
}

/** NaN and infinities come as texts. */
export function numberIn(value: unknown): number | null {
  if (typeof value === "number") return value;
  return value === "NaN" || value === "Infinity" || value === "-Infinity" ? Number(value) : null;
}

/** Return how a value differs from the baseline's: "+0.012 (+3.1 %)". */
export function deltaText(value: number, base: number): string {
  const change = value - base;
  const share =
    base === 0 || !Number.isFinite(base) ? "" : ` (${delta((change / Math.abs(base)) * 100, 2)} %)`;
  return `${delta(change)}${share}`;
}
