// What an axis has to span: the least and greatest of what is drawn, with room at the ends, and how much has no place.

import type { Line } from "../series/curve";
import type { ClipRange } from "../series/outlier";
import type { Scale } from "../view/state";
import { isSorted, windowOf } from "./lookup";
import type { Bend, Range } from "./scale";

/** Where the y axis is cut; what lies beyond is marked at the edge. */
export type Clip = Pick<ClipRange, "low" | "high">;

const EMPTY: Record<Scale, Range> = {
  linear: { min: 0, max: 1 },
  log: { min: 1, max: 10 },
  symlog: { min: 0, max: 1 },
};

/** Return the x range of all lines, marks included, without room at the ends. */
export function xExtent(lines: readonly Line[], { kind }: Bend): Range {
  const floor = kind === "log" ? 0 : -Infinity;
  let min = Infinity;
  let max = -Infinity;
  const take = (value: number): void => {
    if (!(value > floor && value < Infinity)) return;
    if (value < min) min = value;
    if (value > max) max = value;
  };
  for (const { x, marks } of lines) {
    if (x.length > 0 && isSorted(x) && (x[0] as number) > floor) {
      take(x[0] as number);
      take(x[x.length - 1] as number);
    } else for (const value of x) take(value);
    for (const mark of marks) take(mark.x);
  }
  if (min > max) return EMPTY[kind];
  return min === max ? around(min, kind) : { min, max };
}

/** Values that the y axis does not show, so that the chart can say so. */
export interface Hidden {
  /** On a log axis. */
  readonly notPositive: number;
  readonly above: number;
  readonly below: number;
}

export interface YExtent {
  readonly range: Range;
  readonly hidden: Hidden;
}

/** Return the y range of what lies in a window of x, cut to `clip` if given, with some room at the ends. */
export function yExtent(lines: readonly Line[], window: Range, bend: Bend, clip: Clip | null): YExtent {
  const { kind } = bend;
  const floor = kind === "log" ? 0 : -Infinity;
  const ceiling = clip?.high ?? Infinity;
  const bottom = clip?.low ?? -Infinity;
  let min = Infinity;
  let max = -Infinity;
  let notPositive = 0;
  let above = 0;
  let below = 0;

  const scan = (line: Line, values: Float64Array, counted: boolean): void => {
    const { x } = line;
    const [first, last] = insideOf(x, window);
    const isOrdered = isSorted(x);
    for (let i = first; i < last; i++) {
      const value = values[i] as number;
      if (value >= min && value <= max) continue;
      if (!isOrdered && ((x[i] as number) < window.min || (x[i] as number) > window.max)) continue;
      if (!(value > floor && value < Infinity)) {
        if (counted && value <= floor) notPositive++;
        continue;
      }
      if (value > ceiling) {
        if (counted) above++;
      } else if (value < bottom) {
        if (counted) below++;
      } else {
        if (value < min) min = value;
        if (value > max) max = value;
      }
    }
  };
  for (const line of lines) {
    scan(line, line.y, !line.faint);
    if (line.low !== null) scan(line, line.low, false);
    if (line.high !== null) scan(line, line.high, false);
  }
  const hidden = { notPositive, above, below };
  if (min > max) return { range: EMPTY[kind], hidden };
  return { range: min === max ? around(min, kind) : roomy({ min, max }, bend), hidden };
}

/** Return the indices inside a window; between two points, those two, so that the line through it is seen. */
function insideOf(x: Float64Array, window: Range): [number, number] {
  const [first, last] = windowOf(x, window.min, window.max);
  if (!isSorted(x)) return [first, last];
  const from = (x[first] as number) < window.min ? first + 1 : first;
  const to = (x[last - 1] as number) > window.max ? last - 1 : last;
  return from < to ? [from, to] : [first, last];
}

function around(value: number, kind: Scale): Range {
  if (kind === "log") return { min: value / 2, max: value * 2 };
  const by = Math.abs(value) * 0.1 || 1;
  return { min: value - by, max: value + by };
}

const ROOM = 0.05;

function roomy(range: Range, bend: Bend): Range {
  const first = bend.to(range.min);
  const last = bend.to(range.max);
  const by = (last - first) * ROOM;
  const min = bend.from(first - by);
  // an axis of amounts (all >= 0) does not begin below 0
  return { min: range.min >= 0 && min < 0 ? 0 : min, max: bend.from(last + by) };
}
