// From arrays to strokes. A stretch with many points per pixel column is drawn as what those points cover there
// (first, lowest, highest, last), which is the same picture at a fraction of the strokes: no spike is lost.

import { isSorted, windowOf } from "./lookup";
import type { PixelScale } from "./scale";

/** What Path2D, a canvas context and the SVG writer have in common. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/** Called for a point with gaps on both sides, which no stroke shows. */
export type Dot = (x: number, y: number) => void;

/** Points per pixel column from which on drawing what they cover is less work: it takes up to four strokes. */
const CROWDED = 4;

// Beyond this, canvases lose precision; nothing that far outside is seen.
const FAR = 20_000;

function near(pixel: number): number {
  return pixel > FAR ? FAR : pixel < -FAR ? -FAR : pixel;
}

/** Draw a line; NaN (and values with no place on a log axis) make gaps. */
export function traceLine(
  pen: Pen,
  x: Float64Array,
  y: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
  dot?: Dot,
): void {
  const [first, last] = windowOf(x, xs.min, xs.max);
  const columns = Math.abs(xs.to - xs.from);
  if (last - first > CROWDED * columns && isSorted(x)) traceColumns(pen, x, y, xs, ys, first, last, dot);
  else tracePoints(pen, x, y, xs, ys, first, last, dot);
}

function tracePoints(
  pen: Pen,
  x: Float64Array,
  y: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
  first: number,
  last: number,
  dot?: Dot,
): void {
  let length = 0; // of the stretch so far
  let px = 0;
  let py = 0;
  for (let i = first; i < last; i++) {
    const value = y[i] as number;
    const place = x[i] as number;
    if (!(value > ys.floor && place > xs.floor)) {
      if (length === 1) dot?.(px, py);
      length = 0;
      continue;
    }
    px = near(xs.at(place));
    py = near(ys.at(value));
    if (length === 0) pen.moveTo(px, py);
    else pen.lineTo(px, py);
    length++;
  }
  if (length === 1) dot?.(px, py);
}

function traceColumns(
  pen: Pen,
  x: Float64Array,
  y: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
  first: number,
  last: number,
  dot?: Dot,
): void {
  const floor = ys.floor;
  const linear = xs.bend.kind === "linear";
  let length = 0; // columns of the stretch so far
  let column = Number.NaN;
  let open = 0;
  let close = 0;
  let low = 0;
  let high = 0;
  let lowFirst = true;
  let count = 0;

  const flush = (): void => {
    if (count === 0) return;
    const px = near(column);
    const py = near(ys.at(open));
    if (length === 0) pen.moveTo(px, py);
    else pen.lineTo(px, py);
    length++;
    if (count > 1) {
      const a = lowFirst ? low : high;
      const b = lowFirst ? high : low;
      if (a !== open) pen.lineTo(px, near(ys.at(a)));
      if (b !== a) pen.lineTo(px, near(ys.at(b)));
      if (close !== b) pen.lineTo(px, near(ys.at(close)));
    } else if (length === 1) lonely = py;
    else lonely = Number.NaN;
    count = 0;
  };
  let lonely = Number.NaN;
  const end = (): void => {
    const alone = count === 1 && length === 0;
    flush();
    if (alone) dot?.(near(column), lonely);
    length = 0;
    column = Number.NaN;
  };

  // One multiplication per point: on the linear axis the column is where it lies, rounded.
  const perUnit = linear ? (xs.to - xs.from) / (xs.max - xs.min || 1) : 0;
  const offset = xs.from - xs.min * perUnit;
  for (let i = first; i < last; i++) {
    const value = y[i] as number;
    if (!(value > floor)) {
      end();
      continue;
    }
    const place = x[i] as number;
    const at = Math.round(linear ? place * perUnit + offset : xs.at(place));
    if (at !== column) {
      if (!(place > xs.floor)) continue;
      flush();
      column = at;
      open = close = low = high = value;
      count = 1;
      continue;
    }
    count++;
    close = value;
    if (value < low) {
      low = value;
      lowFirst = false;
    } else if (value > high) {
      high = value;
      lowFirst = true;
    }
  }
  end();
}

/** A band on the surface, left to right: where its points are, with the upper and the lower end of each. */
interface Stretch {
  readonly px: number[];
  readonly top: number[];
  readonly bottom: number[];
}

/** Return the stretches of a band without a gap; in columns, what lies in the same pixel column is one point. */
function stretchesOf(
  x: Float64Array,
  low: Float64Array,
  high: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
  inColumns: boolean,
): Stretch[] {
  const [first, last] = windowOf(x, xs.min, xs.max);
  const all: Stretch[] = [];
  let now: Stretch = { px: [], top: [], bottom: [] };
  const end = (): void => {
    if (now.px.length > 0) all.push(now);
    now = { px: [], top: [], bottom: [] };
  };
  for (let i = first; i < last; i++) {
    const a = low[i] as number;
    const b = high[i] as number;
    const place = x[i] as number;
    if (!(b > ys.floor && place > xs.floor) || Number.isNaN(a)) {
      end();
      continue;
    }
    // what lies below a log axis is cut at its lower end, not dropped: the upper end is still true
    const pa = near(a > ys.floor ? ys.at(a) : ys.from);
    const pb = near(ys.at(b));
    const at = near(inColumns ? Math.round(xs.at(place)) : xs.at(place));
    const { px, top, bottom } = now;
    const n = px.length;
    if (inColumns && n > 0 && px[n - 1] === at) {
      bottom[n - 1] = Math.max(bottom[n - 1] as number, pa);
      top[n - 1] = Math.min(top[n - 1] as number, pb);
    } else {
      px.push(at);
      bottom.push(pa);
      top.push(pb);
    }
  }
  end();
  return all;
}

/** Draw the area between two lines as closed polygons, one for each stretch without a gap. */
export function traceBand(
  pen: Pen,
  x: Float64Array,
  low: Float64Array,
  high: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
): void {
  const [first, last] = windowOf(x, xs.min, xs.max);
  const inColumns = Math.abs(xs.to - xs.from) * CROWDED < last - first && isSorted(x);
  for (const { px, top, bottom } of stretchesOf(x, low, high, xs, ys, inColumns)) {
    const n = px.length;
    pen.moveTo(px[0] as number, top[0] as number);
    for (let i = 1; i < n; i++) pen.lineTo(px[i] as number, top[i] as number);
    for (let i = n - 1; i >= 0; i--) pen.lineTo(px[i] as number, bottom[i] as number);
  }
}

/** Pixels that the end of a band sticks out by before it is a spike. */
const SPIKE = 3;

/**
 * Draw where a band sticks out beyond what is left and right of it, as lines from the tip down to that. An area which is
 * a pixel wide is all but invisible: a single point among a million would be lost to the eye. x ascends.
 */
export function traceSpikes(
  pen: Pen,
  x: Float64Array,
  low: Float64Array,
  high: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
  ratio: number,
): void {
  const reach = Math.ceil(2 * ratio);
  const least = SPIKE * ratio;
  for (const { px, top, bottom } of stretchesOf(x, low, high, xs, ys, true)) {
    for (let i = 0; i < px.length; i++) {
      // in the middle of its pixel: else it is half as strong on two of them
      const at = (px[i] as number) + 0.5;
      const [up, down] = [top[i] as number, bottom[i] as number];
      const above = Math.min(innermost(top, i, -reach, Math.max), innermost(top, i, reach, Math.max));
      const below = Math.max(innermost(bottom, i, -reach, Math.min), innermost(bottom, i, reach, Math.min));
      if (above - up > least && above < FAR) {
        pen.moveTo(at, up);
        pen.lineTo(at, above);
      }
      if (down - below > least && below > -FAR) {
        pen.moveTo(at, down);
        pen.lineTo(at, below);
      }
    }
  }
}

/** Return which end beside this one is nearest to the middle of the band; what is beyond the last one is no limit. */
function innermost(
  ends: readonly number[],
  at: number,
  reach: number,
  inner: (a: number, b: number) => number,
): number {
  const [first, last] = reach < 0 ? [at + reach, at - 1] : [at + 1, at + reach];
  let found: number | undefined;
  for (let i = Math.max(0, first); i <= last && i < ends.length; i++) {
    const end = ends[i] as number;
    found = found === undefined ? end : inner(found, end);
  }
  return found ?? inner(FAR, -FAR);
}
