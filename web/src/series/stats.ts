// What a set of values comes to. NaN and infinities are counted, and no part of any extreme, mean or quantile.

import type { Curve } from "./curve";

export interface Stats {
  readonly count: number;
  readonly nan: number;
  readonly posinf: number;
  readonly neginf: number;
  /** Of finite values; NaN if there are none. Places are indexes, -1 if there are none. */
  readonly min: number;
  readonly minAt: number;
  readonly max: number;
  readonly maxAt: number;
  readonly mean: number;
  /** The last value as it is, finite or not. */
  readonly last: number;
}

export function statsOf(values: ArrayLike<number>): Stats {
  let nan = 0;
  let posinf = 0;
  let neginf = 0;
  let minAt = -1;
  let maxAt = -1;
  let finite = 0;
  let mean = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) nan++;
    else if (value === Number.POSITIVE_INFINITY) posinf++;
    else if (value === Number.NEGATIVE_INFINITY) neginf++;
    else {
      finite++;
      mean += value / finite - mean / finite;
      if (minAt < 0 || value < (values[minAt] as number)) minAt = i;
      if (maxAt < 0 || value > (values[maxAt] as number)) maxAt = i;
    }
  }
  return {
    count: values.length,
    nan,
    posinf,
    neginf,
    min: values[minAt] ?? Number.NaN,
    minAt,
    max: values[maxAt] ?? Number.NaN,
    maxAt,
    mean: finite > 0 ? mean : Number.NaN,
    last: values[values.length - 1] ?? Number.NaN,
  };
}

export interface Best {
  readonly value: number;
  readonly step: number;
}

/** Return the best value that was logged and its first step, true of buckets too; null if none is finite. */
export function bestOf(curve: Curve, goal: "min" | "max"): Best | null {
  const values = goal === "min" ? curve.min : curve.max;
  const steps = (goal === "min" ? curve.minStep : curve.maxStep) ?? curve.step;
  const { minAt, maxAt } = statsOf(values);
  const at = goal === "min" ? minAt : maxAt;
  return at < 0 ? null : { value: values[at] as number, step: steps[at] as number };
}

/** Return the finite values in ascending order. */
export function sortedFinite(values: ArrayLike<number>): Float64Array {
  const out = new Float64Array(values.length);
  let n = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (Number.isFinite(value)) out[n++] = value;
  }
  return out.subarray(0, n).sort();
}

/** Return a quantile of the first `n` of ascending finite values, between neighbours in proportion; NaN if n is 0. */
export function quantileSorted(sorted: ArrayLike<number>, q: number, n = sorted.length): number {
  if (n === 0) return Number.NaN;
  const place = Math.min(Math.max(q, 0), 1) * (n - 1);
  const below = Math.floor(place);
  const low = sorted[below] as number;
  const share = place - below;
  if (share === 0) return low;
  const high = sorted[below + 1] as number;
  return low === high ? low : low * (1 - share) + high * share;
}

export function quantile(values: ArrayLike<number>, q: number): number {
  return quantileSorted(sortedFinite(values), q);
}

export function median(values: ArrayLike<number>): number {
  return quantile(values, 0.5);
}
