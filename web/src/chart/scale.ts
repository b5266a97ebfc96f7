// A PixelScale carries values to pixels and back for one axis. Screen, PNG and SVG place everything through it,
// so that the three show the same picture.

import type { Line } from "../series/curve";
import { symlogThreshold, type Transform, transform } from "../series/scale";
import type { Scale } from "../view/state";

/** How an axis is bent: its kind, and where symlog turns from linear to logarithmic. */
export interface Bend extends Transform {
  readonly kind: Scale;
  readonly threshold: number;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface PixelScale {
  readonly bend: Bend;
  readonly min: number;
  readonly max: number;
  /** Pixel of `min` and of `max`; for y the first is the greater one. */
  readonly from: number;
  readonly to: number;
  /** Values at or below this have no place: 0 on a log axis, else -Infinity. */
  readonly floor: number;
  at(value: number): number;
  invert(pixel: number): number;
}

export function bendOf(kind: Scale, threshold = 1): Bend {
  return { kind, threshold, ...transform(kind, threshold) };
}

/** Return the bend of an axis that suits one column (x or y) of the lines. */
export function bendFor(kind: Scale, lines: readonly Line[], column: "x" | "y"): Bend {
  if (kind !== "symlog") return bendOf(kind);
  return bendOf(kind, symlogThreshold(lines.map((line) => line[column])));
}

export function pixelScale(bend: Bend, range: Range, from: number, to: number): PixelScale {
  const start = bend.to(range.min);
  const perUnit = (to - from) / (bend.to(range.max) - start || 1);
  const offset = from - start * perUnit;
  const isLinear = bend.kind === "linear";
  return {
    bend,
    min: range.min,
    max: range.max,
    from,
    to,
    floor: bend.kind === "log" ? 0 : -Infinity,
    at: isLinear ? (value) => value * perUnit + offset : (value) => bend.to(value) * perUnit + offset,
    invert: (pixel) => bend.from((pixel - offset) / perUnit),
  };
}

/** Return a scale that puts everything some pixels lower. */
export function moved(scale: PixelScale, by: number): PixelScale {
  return pixelScale(scale.bend, scale, scale.from + by, scale.to + by);
}

/** Return the range zoomed by `factor` (< 1 is closer) around a value that keeps its place. */
export function zoomAround(bend: Bend, range: Range, value: number, factor: number): Range {
  const centre = bend.to(value);
  const first = centre - (centre - bend.to(range.min)) * factor;
  const last = centre + (bend.to(range.max) - centre) * factor;
  return { min: bend.from(first), max: bend.from(last) };
}

/** Return the range moved by a share of its width. */
export function panBy(bend: Bend, range: Range, share: number): Range {
  const first = bend.to(range.min);
  const last = bend.to(range.max);
  const by = (last - first) * share;
  return { min: bend.from(first + by), max: bend.from(last + by) };
}
