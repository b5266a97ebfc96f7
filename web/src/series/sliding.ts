// Sums and extremes over a window that slides along ascending x, each in O(n).
// The one idea: the window is two stacks, an old part whose totals from each point to its end are kept and a new part with one
// running total. Nothing is ever subtracted, so a huge value that has left the window leaves no rounding behind.

type Combine = (total: number, value: number) => number;

/** The mean of the finite values within `half` of each point. */
export function slidingMean(x: Float64Array, y: Float64Array, half: number): Float64Array {
  const out = slide(x, y, half, 0, (total, value) => total + value);
  const counts = slide(x, y, half, 0, (total) => total + 1, true);
  for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) / (counts[i] as number);
  return out;
}

export function slidingMin(x: Float64Array, y: Float64Array, half: number): Float64Array {
  return slide(x, y, half, Number.POSITIVE_INFINITY, (total, value) => (value < total ? value : total));
}

export function slidingMax(x: Float64Array, y: Float64Array, half: number): Float64Array {
  return slide(x, y, half, Number.NEGATIVE_INFINITY, (total, value) => (value > total ? value : total));
}

/** Return `combine` over the finite values of each window; gaps stay gaps. */
function slide(
  x: Float64Array,
  y: Float64Array,
  half: number,
  none: number,
  combine: Combine,
  isCount = false,
): Float64Array {
  const n = y.length;
  const out = new Float64Array(n);
  const old = new Float64Array(n);
  let first = 0;
  let middle = 0;
  let end = 0;
  let fresh = none;
  for (let i = 0; i < n; i++) {
    const here = x[i] as number;
    while (end < n && (x[end] as number) <= here + half) {
      const value = y[end] as number;
      if (value - value === 0) fresh = combine(fresh, value);
      end++;
    }
    while (first < end && (x[first] as number) < here - half) {
      first++;
      if (first <= middle) continue;
      middle = end;
      let total = none;
      for (let k = end - 1; k >= first; k--) {
        const value = y[k] as number;
        if (value - value === 0) total = combine(total, value);
        old[k] = total;
      }
      fresh = none;
    }
    const value = y[i] as number;
    if (value - value !== 0) out[i] = Number.NaN;
    else if (first >= middle) out[i] = fresh;
    else out[i] = isCount ? (old[first] as number) + fresh : combine(old[first] as number, fresh);
  }
  return out;
}
