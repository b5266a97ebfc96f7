// Axes that are not linear: log, and symlog = asinh(v / t), which is linear near 0 (below t) and logarithmic far from it.

import type { Scale } from "../view/state";
import { count } from "./format";
import { quantile } from "./stats";

export interface Transform {
  /** From a value to its place on the axis; NaN if it has none. */
  readonly to: (value: number) => number;
  readonly from: (place: number) => number;
}

/** Return how an axis places values; `threshold` is where symlog turns from linear to logarithmic. */
export function transform(scale: Scale, threshold = 1): Transform {
  switch (scale) {
    case "linear":
      return { to: (value) => value, from: (place) => place };
    case "log":
      return { to: (value) => (value > 0 ? Math.log10(value) : Number.NaN), from: (place) => 10 ** place };
    case "symlog":
      return { to: (value) => Math.asinh(value / threshold), from: (place) => Math.sinh(place) * threshold };
  }
}

export interface Shown {
  readonly values: Float64Array;
  /** How many finite values the axis cannot show. */
  readonly dropped: number;
}

/** Return the values that an axis can show, a gap for each that it cannot: the same array if it can show all. */
export function showable(values: Float64Array, scale: Scale): Shown {
  if (scale !== "log") return { values, dropped: 0 };
  let out: Float64Array | null = null;
  let dropped = 0;
  for (let i = 0; i < values.length; i++) {
    if (!((values[i] as number) <= 0)) continue;
    out ??= values.slice();
    if (values[i] !== Number.NEGATIVE_INFINITY) dropped++;
    out[i] = Number.NaN;
  }
  return { values: out ?? values, dropped };
}

/** Return what to tell a person about values that a log axis cannot show, "" if it shows all. */
export function droppedNote(dropped: number, total: number): string {
  if (dropped === 0) return "";
  return `${count(dropped)} of ${count(total)} values are 0 or less: not on a log axis, symlog shows them`;
}

/** Return a threshold that suits values: the power of ten at or below their 5th percentile of size, 0 left out. */
export function symlogThreshold(columns: readonly Float64Array[]): number {
  let size = 0;
  for (const column of columns) size += column.length;
  const sizes = new Float64Array(size);
  let n = 0;
  for (const column of columns) {
    for (let i = 0; i < column.length; i++) {
      const value = Math.abs(column[i] as number);
      if (value > 0 && value < Number.POSITIVE_INFINITY) sizes[n++] = value;
    }
  }
  const small = quantile(sizes.subarray(0, n), 0.05);
  if (Number.isNaN(small)) return 1;
  const power = Math.floor(Math.log10(small) + 1e-9);
  return Math.max(10 ** power, Number.MIN_VALUE);
}
