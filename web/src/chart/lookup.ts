// Finding points of a line by x. x is nearly always in order (steps, times); when it is another key it may not be,
// which is remembered per array so that the quick way is taken wherever it is right.

const order = new WeakMap<Float64Array, boolean>();

/** Whether values never fall (NaN breaks the order). */
export function isSorted(x: Float64Array): boolean {
  let known = order.get(x);
  if (known === undefined) {
    known = true;
    for (let i = 1; i < x.length; i++) {
      if (!((x[i] as number) >= (x[i - 1] as number))) {
        known = false;
        break;
      }
    }
    order.set(x, known);
  }
  return known;
}

/** Return the first index whose x is not below `value`, in a sorted array. */
export function lowerBound(x: Float64Array, value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the half-open index range that a window of x touches, with one neighbour at each side for lines that leave it. */
export function windowOf(x: Float64Array, min: number, max: number): [number, number] {
  if (!isSorted(x)) return [0, x.length];
  const first = Math.max(0, lowerBound(x, min) - 1);
  let last = lowerBound(x, max);
  // equal x at the right edge all belong to the window
  while (last < x.length && (x[last] as number) <= max) last++;
  return [first, Math.min(x.length, last + 1)];
}

/** Return the index of the point with a value whose x is nearest, -1 if there is none. */
export function nearestIndex(x: Float64Array, y: Float64Array, value: number): number {
  if (!isSorted(x)) return scanNearest(x, y, value, 0, x.length);
  const at = lowerBound(x, value);
  let left = at - 1;
  while (left >= 0 && Number.isNaN(y[left])) left--;
  let right = at;
  while (right < x.length && Number.isNaN(y[right])) right++;
  if (left < 0) return right < x.length ? right : -1;
  if (right >= x.length) return left;
  return value - (x[left] as number) < (x[right] as number) - value ? left : right;
}

function scanNearest(x: Float64Array, y: Float64Array, value: number, from: number, to: number): number {
  let best = -1;
  let distance = Infinity;
  for (let i = from; i < to; i++) {
    const d = Math.abs((x[i] as number) - value);
    if (d < distance && !Number.isNaN(y[i])) {
      best = i;
      distance = d;
    }
  }
  return best;
}
