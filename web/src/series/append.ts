// Live points at the end of a curve. Raw curves take every point; the last bucket of a bucketed one takes points until it holds
// as many as the fullest, then a new one begins, so extremes and counts stay true. What cannot be added truthfully
// (a change inside a bucket, an x that the points do not have) is not guessed: the curve is to be asked for again.

import { lowerBound } from "./align";
import type { Curve } from "./curve";
import { Growing } from "./growing";

export interface LivePoints {
  readonly steps: readonly number[];
  readonly times_ns: readonly number[];
  /** JSON has no NaN: texts and null are read too. */
  readonly values: readonly (number | string | null)[];
  /** What was sent from this step on no longer counts. */
  readonly replaces_from?: number | null;
  readonly version?: number;
}

export type LiveAxis = "step" | "relative" | "wall";

export interface Appended {
  /** Views of buffers that go on growing: those returned before are not to be used any more. */
  readonly curve: Curve;
  /** Something could not be added: ask the server again. */
  readonly isIncomplete: boolean;
}

interface Buckets {
  readonly min: Growing<Float64Array>;
  readonly max: Growing<Float64Array>;
  readonly first: Growing<Float64Array>;
  readonly last: Growing<Float64Array>;
  readonly stepEnd: Growing<Float64Array>;
  readonly timeEnd: Growing<Float64Array>;
  readonly minStep: Growing<Float64Array>;
  readonly maxStep: Growing<Float64Array>;
  readonly count: Growing<Uint32Array>;
  readonly nan: Growing<Uint32Array>;
  readonly posinf: Growing<Uint32Array>;
  readonly neginf: Growing<Uint32Array>;
}

/** A curve that points are added to. */
export class LiveCurve {
  private readonly step: Growing<Float64Array>;
  private readonly time: Growing<Float64Array>;
  private readonly mean: Growing<Float64Array>;
  private readonly buckets: Buckets | null;
  private readonly canGrow: boolean;
  private readonly fullest: number;
  private version: number;

  constructor(
    private readonly start: Curve,
    private readonly axis: LiveAxis,
  ) {
    this.step = new Growing(start.step);
    this.time = new Growing(start.time);
    this.mean = new Growing(start.mean);
    this.buckets = start.isRaw ? null : bucketsOf(start);
    const isOwnAxis = start.x === start.step || start.x === start.time || start.x.length === 0;
    this.canGrow = isOwnAxis && (start.isRaw || this.buckets !== null);
    this.fullest = start.count === null ? 1 : start.count.reduce((a, b) => Math.max(a, b), 1);
    this.version = start.version;
  }

  append(points: LivePoints): Appended {
    if (!this.canGrow) return { curve: this.start, isIncomplete: true };
    this.version = points.version ?? this.version;
    let isComplete = true;
    if (typeof points.replaces_from === "number") isComplete = this.cutFrom(points.replaces_from);
    for (let i = 0; i < points.steps.length && isComplete; i++) {
      const time = this.secondsOf(points.times_ns[i] as number);
      isComplete = this.add(points.steps[i] as number, time, numberOf(points.values[i]));
    }
    return { curve: this.curve(), isIncomplete: !isComplete };
  }

  private secondsOf(timeNs: number): number {
    return this.axis === "relative" ? (timeNs - this.start.startedNs) / 1e9 : timeNs / 1e9;
  }

  /** Drop what lies at a step or behind it; false if that is within a bucket. */
  private cutFrom(step: number): boolean {
    const length = lowerBound(this.step.view(), step);
    if (this.buckets !== null && length > 0 && this.buckets.stepEnd.at(length - 1) >= step) return false;
    for (const column of [this.step, this.time, this.mean, ...Object.values(this.buckets ?? {})])
      column.cut(length);
    return true;
  }

  private add(step: number, time: number, value: number): boolean {
    const n = this.step.length;
    if (this.buckets === null) {
      const at = n > 0 && step <= this.step.at(n - 1) ? lowerBound(this.step.view(), step) : n;
      if (at < n && this.step.at(at) === step) {
        this.time.set(at, time);
        this.mean.set(at, value); // the later write at a step wins
        return true;
      }
      this.step.insert(at, step);
      this.time.insert(at, time);
      this.mean.insert(at, value);
      return true;
    }
    if (n > 0 && step <= this.buckets.stepEnd.at(n - 1)) return false;
    if (n === 0 || this.buckets.count.at(n - 1) >= this.fullest) this.begin(this.buckets, step, time, value);
    else this.extend(this.buckets, n - 1, step, time, value);
    return true;
  }

  private begin(buckets: Buckets, step: number, time: number, value: number): void {
    const finite = Number.isFinite(value) ? value : Number.NaN;
    this.step.push(step);
    this.time.push(time);
    this.mean.push(finite);
    buckets.stepEnd.push(step);
    buckets.timeEnd.push(time);
    buckets.min.push(finite);
    buckets.max.push(finite);
    buckets.minStep.push(step);
    buckets.maxStep.push(step);
    buckets.first.push(value);
    buckets.last.push(value);
    buckets.count.push(1);
    buckets.nan.push(Number.isNaN(value) ? 1 : 0);
    buckets.posinf.push(value === Number.POSITIVE_INFINITY ? 1 : 0);
    buckets.neginf.push(value === Number.NEGATIVE_INFINITY ? 1 : 0);
  }

  private extend(buckets: Buckets, at: number, step: number, time: number, value: number): void {
    const { count, nan, posinf, neginf } = buckets;
    const finite = count.at(at) - nan.at(at) - posinf.at(at) - neginf.at(at);
    count.set(at, count.at(at) + 1);
    buckets.stepEnd.set(at, step);
    this.time.set(at, Math.min(this.time.at(at), time));
    buckets.timeEnd.set(at, Math.max(buckets.timeEnd.at(at), time));
    buckets.last.set(at, value);
    if (!Number.isFinite(value)) {
      const odd = Number.isNaN(value) ? nan : value > 0 ? posinf : neginf;
      odd.set(at, odd.at(at) + 1);
      return;
    }
    const mean = finite === 0 ? 0 : this.mean.at(at);
    this.mean.set(at, mean + (value - mean) / (finite + 1));
    if (finite === 0 || value < buckets.min.at(at)) {
      buckets.min.set(at, value);
      buckets.minStep.set(at, step);
    }
    if (finite === 0 || value > buckets.max.at(at)) {
      buckets.max.set(at, value);
      buckets.maxStep.set(at, step);
    }
  }

  private curve(): Curve {
    const [step, time, mean] = [this.step.view(), this.time.view(), this.mean.view()];
    const common = {
      ...this.start,
      version: this.version,
      step,
      time,
      mean,
      x: this.axis === "step" ? step : time,
    };
    if (this.buckets === null) {
      return { ...common, stepEnd: step, timeEnd: time, min: mean, max: mean, first: mean, last: mean };
    }
    const { buckets } = this;
    return {
      ...common,
      stepEnd: buckets.stepEnd.view(),
      timeEnd: buckets.timeEnd.view(),
      min: buckets.min.view(),
      max: buckets.max.view(),
      first: buckets.first.view(),
      last: buckets.last.view(),
      minStep: buckets.minStep.view(),
      maxStep: buckets.maxStep.view(),
      count: buckets.count.view(),
      nan: buckets.nan.view(),
      posinf: buckets.posinf.view(),
      neginf: buckets.neginf.view(),
    };
  }
}

/** Return the buckets of a curve, null if it lacks a column that they need. */
function bucketsOf(curve: Curve): Buckets | null {
  const { minStep, maxStep, count, nan, posinf, neginf } = curve;
  if (!minStep || !maxStep || !count || !nan || !posinf || !neginf) return null;
  return {
    min: new Growing(curve.min),
    max: new Growing(curve.max),
    first: new Growing(curve.first),
    last: new Growing(curve.last),
    stepEnd: new Growing(curve.stepEnd),
    timeEnd: new Growing(curve.timeEnd),
    minStep: new Growing(minStep),
    maxStep: new Growing(maxStep),
    count: new Growing(count),
    nan: new Growing(nan),
    posinf: new Growing(posinf),
    neginf: new Growing(neginf),
  };
}

function numberOf(value: number | string | null | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  if (value === "inf" || value === "Infinity") return Number.POSITIVE_INFINITY;
  if (value === "-inf" || value === "-Infinity") return Number.NEGATIVE_INFINITY;
  return value === "" ? Number.NaN : Number(value);
}
