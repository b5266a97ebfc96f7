// What part of an axis to ask the server for when a chart is zoomed: somewhat more than is seen, so that panning a
// little needs no new answer. Pure.

import type { Curve } from "../../../series/curve";
import { axisKey, type Zoom } from "../../../view/state";

/** A range of the server's axis: steps, or nanoseconds; both ends included. */
export interface AskedRange {
  readonly first: number;
  readonly last: number;
}

const MARGIN = 0.25;
const NS = 1e9;

/** The server's axis of a view's x axis. Another key is asked for by step. */
export function serverAxis(xAxis: string): "step" | "time" | "relative" {
  if (xAxis === "relative") return "relative";
  return xAxis === "wall" ? "time" : "step";
}

/** Return the range to ask for, null where the curves cannot tell (another key as x, and no point in view). */
export function rangeOf(xAxis: string, zoom: Zoom, curves: readonly Curve[]): AskedRange | null {
  const margin = (zoom.last - zoom.first) * MARGIN;
  const first = zoom.first - margin;
  const last = zoom.last + margin;
  if (axisKey(xAxis) !== null) return stepsWithin(curves, first, last);
  const unit = serverAxis(xAxis) === "step" ? 1 : NS;
  return { first: Math.floor(first * unit), last: Math.ceil(last * unit) };
}

/** The steps of the points whose x lies within, and of their neighbours. */
function stepsWithin(curves: readonly Curve[], first: number, last: number): AskedRange | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { x, step, stepEnd } of curves) {
    for (let i = 0; i < x.length; i++) {
      const at = x[i] as number;
      if (!(at >= first && at <= last)) continue;
      low = Math.min(low, step[Math.max(0, i - 1)] as number);
      high = Math.max(high, stepEnd[Math.min(x.length - 1, i + 1)] as number);
    }
  }
  return low > high ? null : { first: low, last: high };
}

/** Tell whether a range holds what a zoom shows. */
export function holds(range: AskedRange, asked: AskedRange): boolean {
  const margin = ((asked.last - asked.first) / (1 + 2 * MARGIN)) * MARGIN;
  return range.first <= asked.first + margin && range.last >= asked.last - margin;
}
