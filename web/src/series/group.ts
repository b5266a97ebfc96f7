// Runs in groups, and a group as one line with a band.
// A group's line depends on its members alone: its grid is the union of their x, and at each place a member counts with its
// last value there (a step), from its first x to its last: nothing is extrapolated, and `n` says how many count.

import type { Aggregate } from "../view/state";
import { unionOf } from "./align";
import type { Line } from "./curve";
import { naturalCompare } from "./natural";
import { quantileSorted } from "./stats";
import { tQuantile95 } from "./student";

export interface Group<T> {
  /** What its members have in common, one value for each level. */
  readonly values: readonly unknown[];
  /** Tells groups apart; the same for the same values whatever other groups there are. */
  readonly id: string;
  /** "lr=0.1, opt=adam". */
  readonly label: string;
  readonly members: readonly T[];
}

/** Return groups of items by several fields, in natural order of their values. */
export function groupBy<T>(
  items: readonly T[],
  fields: readonly string[],
  fieldOf: (item: T, field: string) => unknown,
): Group<T>[] {
  const found = new Map<string, { values: unknown[]; members: T[] }>();
  for (const item of items) {
    const values = fields.map((field) => fieldOf(item, field) ?? null);
    const id = JSON.stringify(values, (_, value) => (typeof value === "number" ? plain(value) : value));
    const group = found.get(id);
    if (group) group.members.push(item);
    else found.set(id, { values, members: [item] });
  }
  const names = fields.map((field) => field.replace(/^(config|summary)\./, ""));
  const groups = Array.from(found, ([id, { values, members }]) => ({
    id,
    values,
    members,
    label: values.map((value, level) => `${names[level]}=${valueText(value)}`).join(", "),
  }));
  return groups.sort((a, b) => compareValues(a.values, b.values));
}

function plain(value: number): number | string {
  return Number.isFinite(value) ? value : `#${value}`;
}

function valueText(value: unknown): string {
  if (value === null) return "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Numbers, then the rest in natural order, then those without the field: as the server sorts. */
function compareValues(a: readonly unknown[], b: readonly unknown[]): number {
  for (let level = 0; level < a.length; level++) {
    const [left, right] = [a[level], b[level]];
    const order = rankOf(left) - rankOf(right) || compareAlike(left, right);
    if (order !== 0) return order;
  }
  return 0;
}

function rankOf(value: unknown): number {
  if (value === null) return 3;
  if (typeof value !== "number") return 2;
  return Number.isNaN(value) ? 1 : 0;
}

function compareAlike(left: unknown, right: unknown): number {
  if (typeof left !== "number" || typeof right !== "number")
    return naturalCompare(valueText(left), valueText(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

export type Member = Pick<Line, "x" | "y" | "low" | "high">;

export interface GroupLine {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Null without a band. Where the band is not defined (one member has no deviation) it has a gap. */
  readonly low: Float64Array | null;
  readonly high: Float64Array | null;
  /** How many members count at each x. */
  readonly n: Uint32Array;
}

export interface GroupOptions {
  /** Percent between which the percentile band lies. */
  readonly percentiles?: readonly [number, number];
  /** Points at most; on a longer union each stands for several x, and a member counts with the mean of its values there. */
  readonly most?: number;
}

/** Return the line of a group of members with ascending x. */
export function aggregate(
  members: readonly Member[],
  how: Pick<Aggregate, "center" | "band">,
  options: GroupOptions = {},
): GroupLine {
  const union = unionOf(members.map((member) => member.x));
  const stride = Math.max(1, Math.ceil(union.length / (options.most ?? 4000)));
  const size = Math.ceil(union.length / stride);
  const x = new Float64Array(size);
  const y = new Float64Array(size);
  const n = new Uint32Array(size);
  const hasBand = how.band !== "none";
  const low = hasBand ? new Float64Array(size) : null;
  const high = hasBand ? new Float64Array(size) : null;
  const steppers = members.map((member) => new Stepper(member));
  const values = new Float64Array(members.length);
  const needsOrder = how.center === "median" || how.band === "percentile";
  for (let cell = 0; cell < size; cell++) {
    x[cell] = union[cell * stride] as number;
    const end = union[Math.min((cell + 1) * stride, union.length) - 1] as number;
    let present = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const stepper of steppers) {
      if (!stepper.advance(x[cell] as number, end)) continue;
      values[present++] = stepper.value;
      if (stepper.least < least) least = stepper.least;
      if (stepper.most > most) most = stepper.most;
    }
    n[cell] = present;
    if (needsOrder) values.subarray(0, present).sort();
    const mean = meanOf(values, present);
    const center = how.center === "median" ? quantileSorted(values, 0.5, present) : mean;
    y[cell] = center;
    if (low === null || high === null) continue;
    if (present === 0) {
      low[cell] = high[cell] = Number.NaN;
    } else if (how.band === "minmax") {
      low[cell] = least;
      high[cell] = most;
    } else if (how.band === "percentile") {
      const [from, to] = options.percentiles ?? [10, 90];
      low[cell] = quantileSorted(values, from / 100, present);
      high[cell] = quantileSorted(values, to / 100, present);
    } else {
      const spread = spreadOf(values, present, mean, how.band);
      low[cell] = center - spread;
      high[cell] = center + spread;
    }
  }
  return { x, y, low, high, n };
}

/** Walks along one member: what it counts with from one place of the grid to the next. */
class Stepper {
  value = Number.NaN;
  least = Number.NaN;
  most = Number.NaN;
  private at = 0;
  private carried = Number.NaN;

  constructor(private readonly member: Member) {}

  /** Take the points from `first` to `end`; tell whether the member has a value there. */
  advance(first: number, end: number): boolean {
    const { x, y, low, high } = this.member;
    const start = this.at;
    let taken = 0;
    let mean = 0;
    this.least = Number.POSITIVE_INFINITY;
    this.most = Number.NEGATIVE_INFINITY;
    for (; this.at < x.length && (x[this.at] as number) <= end; this.at++) {
      const value = y[this.at] as number;
      this.carried = Number.isFinite(value) ? value : Number.NaN;
      if (Number.isNaN(this.carried)) continue;
      taken++;
      mean += (value - mean) / taken;
      this.widen(low?.[this.at] ?? value, high?.[this.at] ?? value);
    }
    if (taken > 0) {
      this.value = mean;
      return true;
    }
    const isOver = start >= x.length && first > (x[x.length - 1] ?? Number.NEGATIVE_INFINITY);
    if (isOver || Number.isNaN(this.carried)) return false;
    this.value = this.least = this.most = this.carried;
    return true;
  }

  private widen(low: number, high: number): void {
    if (low < this.least) this.least = low;
    if (high > this.most) this.most = high;
  }
}

function meanOf(values: Float64Array, n: number): number {
  let mean = n > 0 ? 0 : Number.NaN;
  for (let i = 0; i < n; i++) mean += ((values[i] as number) - mean) / (i + 1);
  return mean;
}

/** Half the height of the band: sample deviation, error of the mean, or its 95 % confidence by Student's t. */
function spreadOf(
  values: Float64Array,
  n: number,
  mean: number,
  band: "std" | "sem" | "ci" | "none",
): number {
  if (n < 2) return Number.NaN;
  let squares = 0;
  for (let i = 0; i < n; i++) squares += ((values[i] as number) - mean) ** 2;
  const deviation = Math.sqrt(squares / (n - 1));
  if (band === "std") return deviation;
  const error = deviation / Math.sqrt(n);
  return band === "ci" ? error * tQuantile95(n - 1) : error;
}
