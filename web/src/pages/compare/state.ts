// What a person chose about a comparison, as one plain value, and its text in the address. Pure. Only what differs from
// the default is written; what is not understood is left at its default, parameters of others are kept.

import { flag, list, oneOf, optionalText, readNumber, type TextOf } from "../../view/field";
import { SCALES, type Scale } from "../../view/state";
import { FIGURES, type Figure } from "./figure";

export const TABS = ["diff", "metrics", "charts", "explore"] as const;
export type Tab = (typeof TABS)[number];
/** auto: a column per run while there are few, else the values with the runs that have them. */
export const LAYOUTS = ["auto", "runs", "values"] as const;
export type Layout = (typeof LAYOUTS)[number];
export const PLOT_SCALES = ["auto", ...SCALES] as const;
export type PlotScale = (typeof PLOT_SCALES)[number];
export const X_AXES = ["step", "relative", "wall"] as const;
export type XAxis = (typeof X_AXES)[number];

export interface AxisRange {
  readonly min: number;
  readonly max: number;
}

export interface CompareState {
  /** Ids of hand-picked runs; none: all runs that the filter means. */
  readonly runs: readonly string[];
  readonly filter: string;
  readonly sort: string;
  readonly base: string | null;
  readonly tab: Tab;
  /** Rows that are the same everywhere too. */
  readonly all: boolean;
  readonly ignore: string;
  readonly layout: Layout;
  readonly closed: readonly string[];
  /** The run whose code is held against the baseline's. */
  readonly against: string | null;
  readonly figure: Figure;
  readonly search: string;
  readonly order: string;
  readonly isTurned: boolean;
  /** "key:min", "key:max", "key:none": what a person said is better. */
  readonly goals: readonly string[];
  readonly keys: readonly string[];
  readonly xAxis: XAxis;
  readonly yScale: Scale;
  readonly smooth: number;
  readonly axes: readonly string[];
  readonly x: string | null;
  readonly y: string | null;
  readonly colour: string | null;
  /** auto: by the numbers themselves. */
  readonly xs: PlotScale;
  readonly ys: PlotScale;
  /** What bars show, and what config keys are held against. */
  readonly target: string | null;
  readonly brush: readonly string[];
  /** Brushes of parallel coordinates: "axis:0.1..0.3". */
  readonly ranges: readonly string[];
}

export const DEFAULTS: CompareState = {
  runs: [],
  filter: "",
  sort: "-created_at",
  base: null,
  tab: "diff",
  all: false,
  ignore: "",
  layout: "auto",
  closed: [],
  against: null,
  figure: "best",
  search: "",
  order: "",
  isTurned: false,
  goals: [],
  keys: [],
  xAxis: "step",
  yScale: "linear",
  smooth: 0,
  axes: [],
  x: null,
  y: null,
  colour: null,
  xs: "auto",
  ys: "auto",
  target: null,
  brush: [],
  ranges: [],
};

const text: TextOf<string> = { write: (value) => value, read: (found) => found };
const share: TextOf<number> = {
  write: String,
  read: (found) => {
    const value = readNumber(found);
    return value !== undefined && value >= 0 && value <= 1 ? value : undefined;
  },
};

/** Names in the address; those that a workspace has too are spelt alike, so that its links work here. */
const FIELDS: { readonly [K in keyof CompareState]: readonly [name: string, text: TextOf<CompareState[K]>] } =
  {
    runs: ["runs", list],
    filter: ["filter", text],
    sort: ["sort", text],
    base: ["base", optionalText],
    tab: ["tab", oneOf(TABS)],
    all: ["all", flag],
    ignore: ["ignore", text],
    layout: ["layout", oneOf(LAYOUTS)],
    closed: ["closed", list],
    against: ["against", optionalText],
    figure: ["figure", oneOf(FIGURES)],
    search: ["q", text],
    order: ["order", text],
    isTurned: ["turned", flag],
    goals: ["goals", list],
    keys: ["keys", list],
    xAxis: ["xa", oneOf(X_AXES)],
    yScale: ["scale", oneOf(SCALES)],
    smooth: ["smooth", share],
    axes: ["axes", list],
    x: ["x", optionalText],
    y: ["y", optionalText],
    colour: ["colour", optionalText],
    xs: ["xs", oneOf(PLOT_SCALES)],
    ys: ["ys", oneOf(PLOT_SCALES)],
    target: ["target", optionalText],
    brush: ["brush", list],
    ranges: ["ranges", list],
  };

type Parameter = readonly [name: string, value: string];

export interface Decoded {
  readonly state: CompareState;
  readonly unknown: readonly Parameter[];
}

export function decode(search: string): Decoded {
  const names = new Map(Object.entries(FIELDS).map(([key, [name, field]]) => [name, { key, field }]));
  const state: Record<string, unknown> = { ...DEFAULTS };
  const unknown: Parameter[] = [];
  for (const [name, value] of new URLSearchParams(search)) {
    const known = names.get(name);
    if (known === undefined) {
      if (name !== "v") unknown.push([name, value]);
      continue;
    }
    const read = known.field.read(value);
    if (read !== undefined) state[known.key] = read;
  }
  return { state: state as unknown as CompareState, unknown };
}

/** Return the search text with its question mark, or "". */
export function encode(state: CompareState, unknown: readonly Parameter[] = []): string {
  const own: Parameter[] = [];
  for (const [key, [name, field]] of Object.entries(FIELDS) as [
    keyof CompareState,
    [string, TextOf<unknown>],
  ][]) {
    const written = field.write(state[key]);
    if (written !== field.write(DEFAULTS[key])) own.push([name, written]);
  }
  if (own.length > 0) own.unshift(["v", "1"]);
  const all = [...own, ...unknown].map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  return all.length > 0 ? `?${all.join("&")}` : "";
}

export function readRanges(ranges: readonly string[]): Record<string, AxisRange> {
  const found: Record<string, AxisRange> = {};
  for (const one of ranges) {
    const match = /^(.*):(-?[\d.e+-]+)\.\.(-?[\d.e+-]+)$/is.exec(one);
    const [min, max] = [readNumber(match?.[2] ?? ""), readNumber(match?.[3] ?? "")];
    if (match && min !== undefined && max !== undefined) found[match[1] as string] = { min, max };
  }
  return found;
}

export function writeRanges(ranges: Readonly<Record<string, AxisRange>>): string[] {
  return Object.entries(ranges).map(([axis, { min, max }]) => `${axis}:${short(min)}..${short(max)}`);
}

/** The search text of a comparison of these runs, for links to it. */
export function compareSearch(runs: readonly string[], base: string | null = null): string {
  return encode({ ...DEFAULTS, runs, base });
}

function short(value: number): number {
  return Number(value.toPrecision(6));
}

function escaped(value: string): string {
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/%(2F|2C|3A|40|24|5B|5D|28|29)/g, (code) => decodeURIComponent(code))
    .replace(/%20/g, "+");
}
