// Pixels that lines are painted into, column by column, before they are laid onto a canvas at once. A browser works out
// the outline of every little piece of a path, which for a line with more points than pixels is many times the work.

import type { Stretch } from "./columns";

/** A colour as the bytes of a picture. */
export interface Ink {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  /** 0 to 1. */
  readonly alpha: number;
}

export class Sheet {
  /** Four bytes each: red, green, blue, alpha, the last not yet multiplied into the others. */
  private readonly pixels: Uint32Array;
  private readonly width: number;
  private readonly height: number;

  constructor(readonly image: ImageData) {
    this.pixels = new Uint32Array(image.data.buffer);
    this.width = image.width;
    this.height = image.height;
  }

  clear(): void {
    this.pixels.fill(0);
  }

  /** Paint a stretch of a line with a pen of some width. */
  line({ first, last, top, bottom, slope }: Stretch, ink: Ink, width: number): void {
    const half = width / 2;
    // A wide pen covers some of the columns beside a steep course too.
    const beside = Math.min(1, half - 0.5);
    for (let column = first; column < last; column++) {
      const up = top[column] as number;
      const down = bottom[column] as number;
      const ramp = slope[column] as number;
      if (ramp > 0) {
        // Across a slope a pen is as wide as it is; measured straight down it is wider.
        const reach = half * Math.sqrt(1 + ramp * ramp);
        this.slope(column, up - reach, down + reach, ramp, ink);
        continue;
      }
      this.span(column, up - half, down + half, ink);
      if (beside <= 0) continue;
      let above = up;
      let below = down;
      if (column > first) {
        above = Math.min(above, top[column - 1] as number);
        below = Math.max(below, bottom[column - 1] as number);
      }
      if (column + 1 < last) {
        above = Math.min(above, top[column + 1] as number);
        below = Math.max(below, bottom[column + 1] as number);
      }
      this.fill(column, Math.round(above), Math.floor(up - half), beside * ink.alpha, ink);
      this.fill(column, Math.ceil(down + half), Math.round(below), beside * ink.alpha, ink);
    }
  }

  /** Paint one column from `up` to `down`, its ends as faintly as they cover little of a pixel. */
  private span(column: number, up: number, down: number, ink: Ink): void {
    const from = Math.floor(up);
    const to = Math.floor(down);
    if (from === to) {
      this.fill(column, from, from + 1, (down - up) * ink.alpha, ink);
      return;
    }
    this.fill(column, from, from + 1, (from + 1 - up) * ink.alpha, ink);
    this.fill(column, from + 1, to, ink.alpha, ink);
    this.fill(column, to, to + 1, (down - to) * ink.alpha, ink);
  }

  /** The same with ends that grow from nothing to full over `ramp` pixels: the edge of a line that goes up or down. */
  private slope(column: number, up: number, down: number, ramp: number, ink: Ink): void {
    const to = Math.min(this.height, Math.ceil(down));
    for (let row = Math.max(0, Math.floor(up)); row < to; row++) {
      const fromAbove = grown(row + 1 - up, ramp) - grown(row - up, ramp);
      const fromBelow = grown(down - row, ramp) - grown(down - row - 1, ramp);
      this.fill(column, row, row + 1, (fromAbove + fromBelow - 1) * ink.alpha, ink);
    }
  }

  /** Lay ink over the pixels of a column. */
  private fill(column: number, from: number, to: number, alpha: number, { red, green, blue }: Ink): void {
    const { width, pixels } = this;
    const end = Math.min(this.height, to) * width;
    const bare = (blue << 16) | (green << 8) | red;
    for (let at = Math.max(0, from) * width + column; at < end; at += width) {
      const before = pixels[at] as number;
      if (alpha >= 1) pixels[at] = 0xff000000 | bare;
      else if (before === 0) pixels[at] = ((alpha * 255 + 0.5) << 24) | bare;
      else {
        const left = ((before >>> 24) / 255) * (1 - alpha);
        const ours = alpha / (alpha + left);
        const theirs = 1 - ours;
        const r = red * ours + (before & 255) * theirs + 0.5;
        const g = green * ours + ((before >>> 8) & 255) * theirs + 0.5;
        const b = blue * ours + ((before >>> 16) & 255) * theirs + 0.5;
        pixels[at] = (((alpha + left) * 255 + 0.5) << 24) | (b << 16) | (g << 8) | r;
      }
    }
  }
}

/** How much of a pixel column is covered down to a depth, if cover grows from 0 to 1 over `ramp`. */
function grown(depth: number, ramp: number): number {
  if (depth <= 0) return 0;
  return depth < ramp ? (depth * depth) / (2 * ramp) : depth - ramp / 2;
}
