// What a plot can show of a run, as text: a config key (`config.lr`), a figure of a metric (`min(train/loss)`), or a fact
// that every run has (`runtime`). Pure.

import type { Goal } from "../../runs/best";
import { number } from "../../series/format";
import type { Digest, RunItem } from "../../server/types";
import { FIGURES, type Figure, figureOf } from "./figure";

export type Measure =
  | { readonly kind: "config"; readonly key: string }
  | { readonly kind: "metric"; readonly figure: Figure; readonly key: string }
  | { readonly kind: "own"; readonly name: OwnName };

export const OWN = {
  runtime: "Runtime (s)",
  created: "Created (days ago)",
  rows: "Rows",
  state: "State",
  group: "Group",
  user: "User",
  host: "Host",
} as const;
export type OwnName = keyof typeof OWN;
export type PlotCell = number | string | null;

const CALL = new RegExp(`^(${FIGURES.join("|")})\\((.+)\\)$`, "s");

export function measureOf(text: string): Measure | null {
  const call = CALL.exec(text);
  if (call) return { kind: "metric", figure: call[1] as Figure, key: call[2] as string };
  if (text.startsWith("config.")) return { kind: "config", key: text.slice("config.".length) };
  return Object.hasOwn(OWN, text) ? { kind: "own", name: text as OwnName } : null;
}

/** How it is called in a plot. */
export function titleOf(text: string): string {
  const measure = measureOf(text);
  if (measure === null) return text;
  if (measure.kind === "config") return measure.key;
  return measure.kind === "own" ? OWN[measure.name] : `${measure.key} (${measure.figure})`;
}

export interface MeasuredRun {
  readonly run: RunItem;
  /** Dotted keys to values; lists are values. */
  readonly config: ReadonlyMap<string, unknown>;
}

export function measuredRun(run: RunItem): MeasuredRun {
  const config = new Map<string, unknown>();
  flatten(run.config ?? {}, "", config);
  return { run, config };
}

function flatten(map: Readonly<Record<string, unknown>>, prefix: string, out: Map<string, unknown>): void {
  for (const [name, value] of Object.entries(map)) {
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isMap) flatten(value as Record<string, unknown>, `${prefix}${name}.`, out);
    else out.set(prefix + name, value);
  }
}

export interface Figures {
  digest(run: RunItem, key: string): Digest | undefined;
  goal(key: string): Goal | null;
}

export function cellOf(
  measure: Measure,
  { run, config }: MeasuredRun,
  figures: Figures,
  nowMs: number,
): PlotCell {
  if (measure.kind === "config") return plotCell(config.get(measure.key));
  if (measure.kind === "metric") {
    const { key, figure } = measure;
    return figureOf(figures.digest(run, key), figure, figures.goal(key))?.value ?? null;
  }
  switch (measure.name) {
    case "runtime":
      return run.runtime_s;
    case "created":
      return (nowMs - run.created_ns / 1e6) / 86_400_000;
    case "rows":
      return run.num_rows;
    default:
      return run[measure.name] ?? null;
  }
}

function plotCell(value: unknown): PlotCell {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface VaryingKey {
  readonly key: string;
  readonly isNumeric: boolean;
  readonly levels: number;
}

/** Return the config keys whose values differ between runs, in the order in which runs have them. */
export function varyingKeys(runs: readonly MeasuredRun[]): VaryingKey[] {
  const found = new Map<string, { levels: Set<string>; isNumeric: boolean; n: number }>();
  for (const { config } of runs) {
    for (const [key, value] of config) {
      const cell = plotCell(value);
      if (cell === null) continue;
      const known = found.get(key) ?? { levels: new Set<string>(), isNumeric: true, n: 0 };
      known.levels.add(String(cell));
      known.n += 1;
      if (typeof cell !== "number") known.isNumeric = false;
      found.set(key, known);
    }
  }
  return [...found]
    .filter(([, { levels, n }]) => levels.size > 1 || (n > 0 && n < runs.length))
    .map(([key, { levels, isNumeric }]) => ({ key, isNumeric, levels: levels.size }));
}

export function plotText(cell: PlotCell | undefined): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "number" ? number(cell) : cell;
}
