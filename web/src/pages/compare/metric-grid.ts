// Metrics of runs as a table: one is rows, the other columns, and any column sorts it. Pure.

import { number } from "../../series/format";
import { naturalCompare } from "../../series/natural";
import type { RunItem } from "../../server/types";
import { type Delta, deltaOf, deltaText, type Figure, figureOf, type Value } from "./figure";
import type { Figures } from "./measure";
import type { TextTable } from "./table-text";

export interface GridCell {
  readonly value: Value | null;
  /** Against the baseline; null for the baseline itself. */
  readonly delta: Delta | null;
  /** Whether no run has a better one. */
  readonly isBest: boolean;
}

export interface MetricRow {
  readonly key: string;
  /** One for each run. */
  readonly cells: readonly GridCell[];
}

export function metricRow(
  key: string,
  runs: readonly RunItem[],
  base: RunItem,
  figure: Figure,
  figures: Figures,
): MetricRow {
  const goal = figures.goal(key);
  const values = runs.map((run) => figureOf(figures.digest(run, key), figure, goal));
  const baseValue = figureOf(figures.digest(base, key), figure, goal)?.value ?? null;
  const finite = values.flatMap((one) => (one !== null && Number.isFinite(one.value) ? [one.value] : []));
  const best =
    goal === null || finite.length < 2
      ? null
      : finite.reduce((a, b) => (goal === "min" ? Math.min(a, b) : Math.max(a, b)));
  const isAllEqual = finite.every((value) => value === finite[0]);
  return {
    key,
    cells: values.map((value, i) => ({
      value,
      delta: runs[i]?.id === base.id ? null : deltaOf(value?.value ?? null, baseValue, goal),
      isBest: !isAllEqual && best !== null && value?.value === best,
    })),
  };
}

/** An order as text: "" for none, a column's name, with "-" before it for the greatest first. */
export function nextOrder(order: string, column: string): string {
  return order === column ? `-${column}` : order === `-${column}` ? "" : column;
}

/** Sort metrics: by name ("key"), or by the change of one run (its id) in percent; what has none comes last. */
export function sortMetrics(
  rows: readonly MetricRow[],
  order: string,
  runs: readonly RunItem[],
): MetricRow[] {
  const { column, sign } = readOrder(order);
  if (column === "key") return [...rows].sort((a, b) => sign * naturalCompare(a.key, b.key));
  const place = runs.findIndex((run) => run.id === column);
  if (place < 0) return [...rows];
  const of = (row: MetricRow): number | null =>
    row.cells[place]?.delta?.share ?? row.cells[place]?.delta?.change ?? null;
  return sorted(rows, of, sign);
}

/** Sort places of runs: by name ("run"), or by the value of a metric; runs without a value come last. */
export function sortRuns(
  runs: readonly RunItem[],
  rows: readonly MetricRow[],
  order: string,
  label: (run: RunItem) => string,
): number[] {
  const { column, sign } = readOrder(order);
  const places = runs.map((_, i) => i);
  if (column === "run") {
    return places.sort((a, b) => sign * naturalCompare(label(runs[a] as RunItem), label(runs[b] as RunItem)));
  }
  const row = rows.find((one) => one.key === column);
  if (row === undefined) return places;
  return sorted(places, (i) => row.cells[i]?.value?.value ?? null, sign);
}

export function readOrder(order: string): { column: string; sign: 1 | -1 } {
  return order.startsWith("-") ? { column: order.slice(1), sign: -1 } : { column: order, sign: 1 };
}

function sorted<T>(items: readonly T[], of: (item: T) => number | null, sign: 1 | -1): T[] {
  const isNone = (value: number | null): boolean => value === null || Number.isNaN(value);
  return items
    .map((item) => ({ item, value: of(item) }))
    .sort((a, b) => {
      if (isNone(a.value) || isNone(b.value)) return Number(isNone(a.value)) - Number(isNone(b.value));
      return sign * ((a.value as number) - (b.value as number));
    })
    .map(({ item }) => item);
}

export interface GridText {
  readonly rows: readonly MetricRow[];
  readonly runs: readonly RunItem[];
  readonly places: readonly number[];
  readonly label: (run: RunItem) => string;
  readonly figure: Figure;
  /** Whether runs are rows. */
  readonly isTurned: boolean;
}

/** Return the table as text: each value with its step and its change. */
export function gridText({ rows, runs, places, label, figure, isTurned }: GridText): TextTable {
  const title = `Metrics (${figure})`;
  const text = (cell: GridCell | undefined): string => {
    if (cell?.value == null) return "";
    return cell.delta === null
      ? number(cell.value.value)
      : `${number(cell.value.value)} (${deltaText(cell.delta)})`;
  };
  const ordered = places.map((i) => [i, runs[i] as RunItem] as const);
  return isTurned
    ? {
        title,
        isNumeric: true,
        head: ["run", ...rows.map((row) => row.key)],
        rows: ordered.map(([i, run]) => [label(run), ...rows.map((row) => text(row.cells[i]))]),
      }
    : {
        title,
        isNumeric: true,
        head: ["metric", ...ordered.map(([, run]) => label(run))],
        rows: rows.map((row) => [row.key, ...ordered.map(([i]) => text(row.cells[i]))]),
      };
}
