// Curves of different x on one grid, as uPlot wants them: one x, and a column for each line in which null is a gap that was
// logged (NaN) and undefined is no point at all. And the way back: which logged point lies nearest to a place.

import type { Line } from "./curve";

export type Column = Float64Array | (number | null | undefined)[];

export interface Joined {
  readonly x: Float64Array;
  readonly y: Column[];
  readonly low: (Column | null)[];
  readonly high: (Column | null)[];
}

type Drawn = Pick<Line, "x" | "y" | "low" | "high">;

/** Return lines on the union of their x. Lines that share their x, the usual case, are not copied. */
export function joinLines(lines: readonly Drawn[]): Joined {
  const sorted = lines.map(sortedByX);
  const x = unionOf(sorted.map((line) => line.x));
  const place = (line: Drawn, values: Float64Array | null): Column | null =>
    values === null ? null : sameValues(line.x, x) ? withGaps(values) : spread(x, line.x, values);
  return {
    x,
    y: sorted.map((line) => place(line, line.y) as Column),
    low: sorted.map((line) => place(line, line.low)),
    high: sorted.map((line) => place(line, line.high)),
  };
}

/** Return the union of ascending arrays; what one of them has twice, it has twice. The array itself if all are equal. */
export function unionOf(arrays: readonly Float64Array[]): Float64Array {
  let level = arrays.filter((array) => array.length > 0);
  // Pairs, then pairs of pairs: every value is moved log(lines) times, and never if all are equal.
  while (level.length > 1) {
    const next: Float64Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Float64Array;
      const right = level[i + 1];
      next.push(right === undefined ? left : merge(left, right));
    }
    level = next;
  }
  return level[0] ?? new Float64Array(0);
}

function merge(left: Float64Array, right: Float64Array): Float64Array {
  if (sameValues(left, right)) return left;
  const out = new Float64Array(left.length + right.length);
  let n = 0;
  let i = 0;
  let k = 0;
  while (i < left.length && k < right.length) {
    const a = left[i] as number;
    const b = right[k] as number;
    out[n++] = a <= b ? a : b;
    if (a <= b) i++;
    if (b <= a) k++;
  }
  while (i < left.length) out[n++] = left[i++] as number;
  while (k < right.length) out[n++] = right[k++] as number;
  return out.subarray(0, n);
}

/** Tell whether two arrays hold the same; at once if they are one. */
export function sameValues(left: Float64Array, right: Float64Array): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

function withGaps(values: Float64Array): Column {
  let out: (number | null)[] | null = null;
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    out ??= Array.from(values);
    out[i] = null;
  }
  return out ?? values;
}

function spread(grid: Float64Array, x: Float64Array, values: Float64Array): Column {
  const out: (number | null | undefined)[] = new Array(grid.length).fill(undefined);
  let at = 0;
  for (let i = 0; i < x.length; i++) {
    while ((grid[at] as number) < (x[i] as number)) at++;
    const value = values[i] as number;
    out[at++] = Number.isFinite(value) ? value : null;
  }
  return out;
}

/** Return a line with ascending x, itself if it has; points without a finite x have no place and are left out. */
export function sortedByX<L extends Drawn>(line: L): L {
  const { x } = line;
  let ascends = true;
  for (let i = 0; i < x.length && ascends; i++) {
    ascends = Number.isFinite(x[i]) && (i === 0 || (x[i] as number) >= (x[i - 1] as number));
  }
  if (ascends) return line;
  const order = Array.from(x.keys()).filter((i) => Number.isFinite(x[i]));
  order.sort((a, b) => (x[a] as number) - (x[b] as number) || a - b);
  const pick = (values: Float64Array): Float64Array => Float64Array.from(order, (i) => values[i] as number);
  return {
    ...line,
    x: pick(x),
    y: pick(line.y),
    low: line.low && pick(line.low),
    high: line.high && pick(line.high),
  };
}

/** Return the index of the first of ascending values that is not below `at`: the length if all are. */
export function lowerBound(x: Float64Array, at: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the index of the point nearest to `at` whose value is finite, -1 if there is none within `reach`. */
export function nearestIndex(
  x: Float64Array,
  y: Float64Array,
  at: number,
  reach = Number.POSITIVE_INFINITY,
): number {
  let right = lowerBound(x, at);
  let left = right - 1;
  // Over gaps, outwards, the nearer side first; what lies out of reach is not looked at.
  while (left >= 0 || right < x.length) {
    const toLeft = left >= 0 ? at - (x[left] as number) : Number.POSITIVE_INFINITY;
    const toRight = right < x.length ? (x[right] as number) - at : Number.POSITIVE_INFINITY;
    if (!(Math.min(toLeft, toRight) <= reach)) return -1;
    const index = toLeft <= toRight ? left-- : right++;
    if (Number.isFinite(y[index])) return index;
  }
  return -1;
}

export interface Nearest {
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** Return for each line the logged point or bucket nearest to `at`: never a value between two. */
export function nearestPoints(
  lines: readonly Pick<Line, "x" | "y">[],
  at: number,
  reach = Number.POSITIVE_INFINITY,
): (Nearest | null)[] {
  return lines.map(({ x, y }) => {
    const index = nearestIndex(x, y, at, reach);
    return index < 0 ? null : { index, x: x[index] as number, y: y[index] as number };
  });
}
