// Samples of the system on the x axis of what was logged: a sample lies where the logged points around it in time lie.

import { lowerBound } from "./align";
import type { Curve } from "./curve";

/** Moments (seconds) and the x that was logged then, both going up in time. */
interface Track {
  readonly time: Float64Array;
  readonly x: Float64Array;
}

/** Return samples with the x that `guide`, a logged curve of the same run, has at their times; those outside are left out. */
export function placedByTime(samples: Curve, guide: Curve): Curve {
  const track = trackOf(guide);
  const { time } = samples;
  const first = lowerBound(time, track.time[0] ?? Number.POSITIVE_INFINITY);
  const end = track.time[track.time.length - 1] ?? Number.NEGATIVE_INFINITY;
  let last = first;
  while (last < time.length && (time[last] as number) <= end) last++;
  const cut = (values: Float64Array): Float64Array => values.subarray(first, last);
  const cutCounts = (values: Uint32Array | null): Uint32Array | null => values?.subarray(first, last) ?? null;
  return {
    ...samples,
    step: cut(samples.step),
    stepEnd: cut(samples.stepEnd),
    time: cut(time),
    timeEnd: cut(samples.timeEnd),
    x: cut(time).map((at) => xAt(track, at)),
    mean: cut(samples.mean),
    min: cut(samples.min),
    max: cut(samples.max),
    first: cut(samples.first),
    last: cut(samples.last),
    minStep: samples.minStep && cut(samples.minStep),
    maxStep: samples.maxStep && cut(samples.maxStep),
    count: cutCounts(samples.count),
    nan: cutCounts(samples.nan),
    posinf: cutCounts(samples.posinf),
    neginf: cutCounts(samples.neginf),
  };
}

function trackOf({ time, timeEnd, x, step, stepEnd }: Curve): Track {
  const points: [number, number][] = [];
  for (let i = 0; i < x.length; i++)
    if (!Number.isNaN(x[i])) points.push([time[i] as number, x[i] as number]);
  const at = x.length - 1;
  // a bucket ends later than it begins; of the last one that is worth knowing
  if (at >= 0 && x === step) points.push([timeEnd[at] as number, stepEnd[at] as number]);
  // steps may have been logged in any order
  points.sort((a, b) => a[0] - b[0]);
  return { time: Float64Array.from(points, (one) => one[0]), x: Float64Array.from(points, (one) => one[1]) };
}

function xAt({ time, x }: Track, at: number): number {
  const right = lowerBound(time, at);
  if (right === 0) return x[0] as number;
  const [from, to] = [time[right - 1] as number, time[right] as number];
  const share = to > from ? (at - from) / (to - from) : 1;
  return (x[right - 1] as number) + share * ((x[right] as number) - (x[right - 1] as number));
}
