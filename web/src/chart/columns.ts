// What a line with many points covers of each pixel column, stretch by stretch (a gap ends one). x ascends, so within a
// column a line without gaps covers one run of pixels, from the topmost to the lowest of its course there: no spike is
// lost. One long loop without inner functions, which would cost more than all of its arithmetic.

import type { PixelScale } from "./scale";

/** The columns of one stretch; the arrays are used again for the next. */
export interface Stretch {
  /** The first column and the one after the last. */
  first: number;
  last: number;
  /** By column: the course's highest and lowest place, in pixels. */
  readonly top: Float32Array;
  readonly bottom: Float32Array;
  /** By column: how far the course goes up or down if it only does one of them, and gently; else 0. */
  readonly slope: Float32Array;
}

/** Beyond this slope (pixels down for each across) a line looks like a bar of whole pixels. */
const STEEP = 2;
/** Numbers of this size still leave a float32 its fractions; nothing that far outside is seen. */
const FAR = 20_000;

let kept: Stretch = emptyStretch(0);

function emptyStretch(columns: number): Stretch {
  return {
    first: 0,
    last: 0,
    top: new Float32Array(columns),
    bottom: new Float32Array(columns),
    slope: new Float32Array(columns),
  };
}

/**
 * Tell of each stretch that the points from `first` to before `last` make, in columns from 0 to `columns`, where the
 * scales put them; and of points with a gap on both sides.
 */
export function eachStretch(
  x: Float64Array,
  y: Float64Array,
  xs: PixelScale,
  ys: PixelScale,
  [first, last]: readonly [number, number],
  columns: number,
  paint: (stretch: Stretch) => void,
  dot: (x: number, y: number) => void,
): void {
  if (kept.top.length < columns) kept = emptyStretch(columns);
  const stretch = kept;
  const { top, bottom, slope } = stretch;
  const isBentX = xs.bend.kind !== "linear";
  const isBentY = ys.bend.kind !== "linear";
  const perX = (xs.to - xs.from) / (xs.max - xs.min || 1);
  const perY = (ys.to - ys.from) / (ys.max - ys.min || 1);
  const zeroX = xs.from - xs.min * perX;
  const zeroY = ys.from - ys.min * perY;

  // The column that the course is in, the least and greatest value in it, and the last point of all.
  let column = 0;
  let low = 0;
  let high = 0;
  let lastX = 0;
  let lastValue = 0;
  let points = 0; // of the stretch
  let entered = Number.NaN; // where the course came over the column's left edge
  let begun = -1;
  let ended = -1;

  for (let i = first; i <= last; i++) {
    const value = i < last ? (y[i] as number) : Number.NaN;
    const place = i < last ? (x[i] as number) : 0;
    const isGap = !(value > ys.floor && place > xs.floor);
    const px = isGap ? Number.POSITIVE_INFINITY : isBentX ? xs.at(place) : place * perX + zeroX;
    if (points > 0 && px < column + 1) {
      if (value < low) low = value;
      else if (value > high) high = value;
      lastX = px;
      lastValue = value;
      points++;
      continue;
    }
    const next = Math.floor(px);
    const py = isGap ? Number.NaN : clamp(isBentY ? ys.at(value) : value * perY + zeroY);
    if (points > 0) {
      // The course leaves its column, to the next point or (NaN) nowhere.
      const from = clamp(isBentY ? ys.at(lastValue) : lastValue * perY + zeroY);
      const rise = (py - from) / (px - lastX);
      if (column >= 0 && column < columns) {
        const left = from + rise * (column + 1 - lastX);
        let up = clamp(isBentY ? ys.at(high) : high * perY + zeroY);
        let down = low === high ? up : clamp(isBentY ? ys.at(low) : low * perY + zeroY);
        if (entered < up) up = entered;
        if (entered > down) down = entered;
        if (left < up) up = left;
        if (left > down) down = left;
        top[column] = up;
        bottom[column] = down;
        const ends = Math.abs(entered - left);
        slope[column] = ends <= STEEP && down - up <= ends + 1e-6 ? ends : 0;
        if (begun < 0) begun = column;
        ended = column + 1;
      }
      if (!isGap) {
        const until = next < columns ? next : columns;
        const between = column + 1 > 0 ? column + 1 : 0;
        const gentle = rise <= STEEP && rise >= -STEEP ? Math.abs(rise) : 0;
        let edge = from + rise * (between - lastX);
        if (between < until && begun < 0) begun = between;
        for (let at = between; at < until; at++) {
          const after = edge + rise;
          top[at] = rise < 0 ? after : edge;
          bottom[at] = rise < 0 ? edge : after;
          slope[at] = gentle;
          edge = after;
          ended = at + 1;
        }
        entered = from + rise * (next - lastX);
      }
    }
    if (isGap) {
      if (points === 1) dot(lastX, clamp(ys.at(lastValue)));
      else if (begun >= 0) {
        stretch.first = begun;
        stretch.last = ended;
        paint(stretch);
      }
      points = 0;
      begun = -1;
      entered = Number.NaN;
      continue;
    }
    column = next;
    low = high = lastValue = value;
    lastX = px;
    points++;
  }
}

function clamp(pixel: number): number {
  return pixel > FAR ? FAR : pixel < -FAR ? -FAR : pixel;
}
