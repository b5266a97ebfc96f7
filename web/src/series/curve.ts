// A Curve is one answer of the server as typed arrays; a Line is what is drawn of it.
// Everything in series/ is pure: typed arrays in, typed arrays out, no DOM, no requests.

/** Points (`isRaw`) or buckets of consecutive points of one key of one run, in step order. */
export interface Curve {
  /** entity/project/id */
  readonly run: string;
  readonly key: string;
  readonly lane: string;
  /** Each entry is one logged point; then min, max, first and last are `mean`, and what buckets alone have is null. */
  readonly isRaw: boolean;
  readonly isApproximate: boolean;
  readonly startedNs: number;
  readonly version: number;
  readonly step: Float64Array;
  /** The last step of each bucket; `step` when raw. */
  readonly stepEnd: Float64Array;
  /** Seconds: since the epoch, or since the run's start on the relative axis. */
  readonly time: Float64Array;
  readonly timeEnd: Float64Array;
  /** What lies along the width: `step`, `time`, or another key's values. */
  readonly x: Float64Array;
  /** The value when raw, NaN and infinities included; else the mean of the finite values, NaN if there are none. */
  readonly mean: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly minStep: Float64Array | null;
  readonly maxStep: Float64Array | null;
  readonly count: Uint32Array | null;
  readonly nan: Uint32Array | null;
  readonly posinf: Uint32Array | null;
  readonly neginf: Uint32Array | null;
}

export type MarkKind = "nan" | "posinf" | "neginf";

/** A place where values were logged that no line can show. */
export interface Mark {
  readonly x: number;
  readonly kind: MarkKind;
  readonly count: number;
}

/** What is drawn: after smoothing, grouping, expression. */
export interface Line {
  readonly id: string;
  readonly label: string;
  readonly colour: string;
  readonly dash: number[];
  readonly width: number;
  readonly faint: boolean;
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Envelope or band. */
  readonly low: Float64Array | null;
  readonly high: Float64Array | null;
  readonly marks: Mark[];
  /** How many runs are in it. */
  readonly members: number;
  /** Measured by the y axis on the right. */
  readonly isRight?: boolean;
}

export interface CurveFacts {
  readonly run: string;
  readonly key: string;
  readonly lane?: string;
  readonly isApproximate?: boolean;
  readonly startedNs?: number;
  readonly version?: number;
}

/** Return a curve of single points; `x` is the step unless given. */
export function rawCurve(
  facts: CurveFacts,
  step: Float64Array,
  time: Float64Array,
  value: Float64Array,
  x: Float64Array = step,
): Curve {
  return {
    lane: "",
    isApproximate: false,
    startedNs: 0,
    version: 0,
    ...facts,
    isRaw: true,
    step,
    stepEnd: step,
    time,
    timeEnd: time,
    x,
    mean: value,
    min: value,
    max: value,
    first: value,
    last: value,
    minStep: null,
    maxStep: null,
    count: null,
    nan: null,
    posinf: null,
    neginf: null,
  };
}

/** Return the values with a gap (NaN) wherever one is not finite: the same array if all are. */
export function finiteOnly(values: Float64Array): Float64Array {
  let out: Float64Array | null = null;
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    out ??= values.slice();
    out[i] = Number.NaN;
  }
  return out ?? values;
}

/** Return where NaN and infinities were logged, so that none is dropped in silence. */
export function marksOf(curve: Curve): Mark[] {
  const marks: Mark[] = [];
  const add = (index: number, kind: MarkKind, count: number): void => {
    if (count > 0) marks.push({ x: curve.x[index] as number, kind, count });
  };
  for (let i = 0; i < curve.x.length; i++) {
    if (curve.isRaw) {
      const value = curve.mean[i] as number;
      if (!Number.isFinite(value)) add(i, kindOf(value), 1);
    } else {
      add(i, "nan", curve.nan?.[i] ?? 0);
      add(i, "posinf", curve.posinf?.[i] ?? 0);
      add(i, "neginf", curve.neginf?.[i] ?? 0);
    }
  }
  return marks;
}

function kindOf(value: number): MarkKind {
  if (Number.isNaN(value)) return "nan";
  return value > 0 ? "posinf" : "neginf";
}

/** Return how many logged points a curve stands for. */
export function pointCount(curve: Curve): number {
  if (curve.count === null) return curve.x.length;
  let total = 0;
  for (const count of curve.count) total += count;
  return total;
}

/** Style of a line, without its data. */
export type LineStyle = Pick<Line, "id" | "label" | "colour" | "dash" | "width" | "faint" | "isRight">;

/** Return the line of a curve: its values, its true envelope if it is bucketed, its marks. */
export function lineOf(curve: Curve, style: LineStyle): Line {
  return {
    ...style,
    x: curve.x,
    y: finiteOnly(curve.mean),
    low: curve.isRaw ? null : curve.min,
    high: curve.isRaw ? null : curve.max,
    marks: marksOf(curve),
    members: 1,
  };
}
