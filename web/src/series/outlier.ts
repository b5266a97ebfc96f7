// Where to cut the y axis so that a few wild values do not flatten the rest, and how many points that hides.

import type { Line } from "./curve";
import { quantileSorted } from "./stats";

export interface ClipRange {
  readonly low: number;
  readonly high: number;
  /** Points beyond the range; they are told, and drawn as arrows at the edge. */
  readonly above: number;
  readonly below: number;
  readonly total: number;
}

type Drawn = Pick<Line, "x" | "y" | "low" | "high">;

/**
 * Return the range that `percent` of the visible points lie above and as many below, null if none is finite.
 * With 0 percent it is the whole range, envelopes included.
 */
export function clipRange(
  lines: readonly Drawn[],
  percent: number,
  first = Number.NEGATIVE_INFINITY,
  last = Number.POSITIVE_INFINITY,
): ClipRange | null {
  const values = visibleValues(lines, first, last);
  const total = values.length;
  if (total === 0) return null;
  if (!(percent > 0)) return { ...wholeRange(lines, first, last), above: 0, below: 0, total };
  values.sort();
  const share = Math.min(percent, 49) / 100;
  const low = quantileSorted(values, share);
  const high = quantileSorted(values, 1 - share);
  let below = 0;
  while ((values[below] as number) < low) below++;
  let above = 0;
  while ((values[total - 1 - above] as number) > high) above++;
  return { low, high, above, below, total };
}

/** Return the indexes of a line's points that lie above and below a range. */
export function clippedPoints(
  y: Float64Array,
  range: Pick<ClipRange, "low" | "high">,
): { above: number[]; below: number[] } {
  const above: number[] = [];
  const below: number[] = [];
  for (let i = 0; i < y.length; i++) {
    const value = y[i] as number;
    if (value > range.high) above.push(i);
    else if (value < range.low) below.push(i);
  }
  return { above, below };
}

function visibleValues(lines: readonly Drawn[], first: number, last: number): Float64Array {
  let size = 0;
  for (const line of lines) size += line.y.length;
  const values = new Float64Array(size);
  let n = 0;
  for (const { x, y } of lines) {
    for (let i = 0; i < y.length; i++) {
      const value = y[i] as number;
      const here = x[i] as number;
      if (Number.isFinite(value) && here >= first && here <= last) values[n++] = value;
    }
  }
  return values.subarray(0, n);
}

function wholeRange(lines: readonly Drawn[], first: number, last: number): { low: number; high: number } {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const line of lines) {
    for (const values of [line.y, line.low, line.high]) {
      if (values === null) continue;
      for (let i = 0; i < values.length; i++) {
        const value = values[i] as number;
        const here = line.x[i] as number;
        if (!Number.isFinite(value) || here < first || here > last) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  return { low, high };
}
