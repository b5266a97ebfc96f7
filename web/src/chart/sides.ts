// The two y axes of a chart: most lines belong to the left one, some may have the right one to themselves.

import type { Line } from "../series/curve";
import type { PixelScale } from "./scale";

export interface Sides {
  readonly left: readonly Line[];
  readonly right: readonly Line[];
}

/** Return the lines of each side; the same array if all are on the left. */
export function sidesOf(lines: readonly Line[]): Sides {
  if (!lines.some((line) => line.isRight)) return { left: lines, right: [] };
  return { left: lines.filter((line) => !line.isRight), right: lines.filter((line) => line.isRight) };
}

export interface SideScales {
  readonly ys: PixelScale;
  /** The same as `ys` if there is no right axis. */
  readonly rightYs: PixelScale;
}

/** Return the y scale of a line. */
export function scaleOf(line: Line, { ys, rightYs }: SideScales): PixelScale {
  return line.isRight ? rightYs : ys;
}
