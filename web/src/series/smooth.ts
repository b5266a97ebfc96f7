// Smoothing by distance along x, so that irregular and sparse curves are treated as fairly as regular ones.
//
// One amount a in [0, 1) for every kind, and one unit u of x:  u = (x_last - x_first) / min(n - 1, 1000),
// so an evenly spaced curve of up to 1,000 points is smoothed point by point, and a longer one as its 1,000 buckets are.
//   ema       s_i = sum_j<=i w_ij y_j / sum_j<=i w_ij,  w_ij = a ^ ((x_i - x_j) / u)     (causal, bias-corrected)
//   gaussian  s_i = sum_j w_ij y_j / sum_j w_ij,  w_ij = exp(-((x_i - x_j) / sigma)^2 / 2),  sigma = u sqrt(a/3) / (1-a)
//   window    mean of the y_j with |x_i - x_j| <= h,  h = u (1+a) / (1-a) / 2
//   median, min, max  the same window
// These widths have the variance of the EMA's equivalent window, so the slider feels alike for all. Values that are not
// finite are gaps: no part of any sum, and gaps in the result. On a log axis y is replaced by ln y before and exp after;
// values <= 0 are gaps then. The result never leaves the range of the values, so constants stay exactly what they are.

import type { Smoothing } from "../view/state";
import { gaussian } from "./gaussian";
import { slidingMax, slidingMean, slidingMin } from "./sliding";
import { slidingMedian } from "./sliding-median";

export interface SmoothOptions {
  /** Smooth in log space, for a log axis. */
  readonly log?: boolean;
  /** The unit of x; by default that of the curve (`smoothingUnit`). Give one to treat several curves alike. */
  readonly unit?: number;
}

const MOST = 0.9999;

/** Return the distance of x that smoothing calls one. */
export function smoothingUnit(x: Float64Array): number {
  const n = x.length;
  if (n < 2) return 1;
  const range = Math.abs((x[n - 1] as number) - (x[0] as number));
  return range > 0 && Number.isFinite(range) ? range / Math.min(n - 1, 1000) : 1;
}

/** Return `y` smoothed; the same array if there is nothing to do. */
export function smooth(
  x: Float64Array,
  y: Float64Array,
  smoothing: Smoothing,
  options: SmoothOptions = {},
): Float64Array {
  const amount = Math.min(smoothing.amount, MOST);
  if (smoothing.kind === "none" || !(amount > 0) || y.length === 0) return y;
  const along = distances(x);
  const values = options.log ? logarithms(y) : y;
  const out = dispatch(along, values, smoothing.kind, amount, options.unit ?? smoothingUnit(along));
  if (options.log) for (let i = 0; i < out.length; i++) out[i] = Math.exp(out[i] as number);
  return confine(out, y, options.log === true);
}

function dispatch(
  x: Float64Array,
  y: Float64Array,
  kind: Smoothing["kind"],
  amount: number,
  unit: number,
): Float64Array {
  const half = (unit * (1 + amount)) / (1 - amount) / 2;
  switch (kind) {
    case "ema":
      return ema(x, y, amount, unit);
    case "gaussian":
      return gaussian(x, y, (unit * Math.sqrt(amount / 3)) / (1 - amount));
    case "window":
      return slidingMean(x, y, half);
    case "median":
      return slidingMedian(x, y, half);
    case "min":
      return slidingMin(x, y, half);
    case "max":
      return slidingMax(x, y, half);
    case "none":
      return y.slice();
  }
}

/** Bias-corrected exponential average of ascending x: each value weighs `weight` to the power of its distance. */
export function ema(x: Float64Array, y: Float64Array, weight: number, unit: number): Float64Array {
  const out = new Float64Array(y.length);
  const perUnit = Math.log(weight);
  let lastGap = Number.NaN;
  let decay = 0;
  let total = 0;
  let mean = 0;
  let lastX = x[0] ?? 0;
  for (let i = 0; i < y.length; i++) {
    const value = y[i] as number;
    if (value - value !== 0) {
      out[i] = Number.NaN;
      continue;
    }
    const here = x[i] as number;
    const gap = here - lastX;
    if (gap !== lastGap) {
      decay = gap === 0 ? 1 : Math.exp(perUnit * (gap / unit)); // not perUnit / unit first: a unit may be tiny
      lastGap = gap;
    }
    lastX = here;
    total = total * decay + 1;
    // This form, and not a quotient of two sums, leaves a constant exactly alone.
    mean += (value - mean) / total;
    out[i] = mean;
  }
  return out;
}

/** Return x if it ascends, else the way walked along it: what lies along the width may be a metric that goes back. */
export function distances(x: Float64Array): Float64Array {
  let ascends = true;
  for (let i = 1; i < x.length && ascends; i++) ascends = (x[i] as number) >= (x[i - 1] as number);
  if (ascends && Number.isFinite(x[0] ?? 0)) return x;
  const out = new Float64Array(x.length);
  for (let i = 1; i < x.length; i++) {
    const gap = Math.abs((x[i] as number) - (x[i - 1] as number));
    out[i] = (out[i - 1] as number) + (Number.isFinite(gap) ? gap : 0);
  }
  return out;
}

function logarithms(y: Float64Array): Float64Array {
  const out = new Float64Array(y.length);
  for (let i = 0; i < y.length; i++) {
    const value = y[i] as number;
    out[i] = value > 0 ? Math.log(value) : Number.NaN;
  }
  return out;
}

/** An average lies within the range of what it averages: take back what rounding adds. */
function confine(out: Float64Array, y: Float64Array, positive: boolean): Float64Array {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < y.length; i++) {
    const value = y[i] as number;
    if (value - value !== 0 || (positive && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  for (let i = 0; i < out.length; i++) {
    const value = out[i] as number;
    if (value < low) out[i] = low;
    else if (value > high) out[i] = high;
  }
  return out;
}
