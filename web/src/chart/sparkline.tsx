// A line of a few pixels' height beside a name: shape only, no axes.

import { xExtent } from "./extent";
import { PathText } from "./path-text";
import { bendOf, pixelScale, type Range } from "./scale";
import { traceLine } from "./trace";

export interface SparklineProps {
  readonly y: Float64Array;
  /** Left out, points lie one after the other at equal distances. */
  readonly x?: Float64Array;
  readonly width?: number;
  readonly height?: number;
  /** Any CSS colour. */
  readonly colour?: string;
  /** What is shown, for screen readers; without it the line is decoration. */
  readonly label?: string;
}

const PADDING = 1.5;

/** Return the path of a sparkline, "" if there is nothing to draw. */
export function sparkPath(x: Float64Array, y: Float64Array, width: number, height: number): string {
  const line = {
    id: "",
    label: "",
    colour: "",
    dash: [],
    width: 1,
    faint: false,
    low: null,
    high: null,
    members: 1,
  };
  const bend = bendOf("linear");
  const range = extentOf(y);
  if (range === null) return "";
  const pen = new PathText();
  const xs = pixelScale(bend, xExtent([{ ...line, x, y, marks: [] }], bend), PADDING, width - PADDING);
  const ys = pixelScale(bend, range, height - PADDING, PADDING);
  traceLine(pen, x, y, xs, ys, (px, py) => pen.lineTo(px + 0.1, py));
  return pen.text;
}

export function Sparkline({ y, x, width = 64, height = 18, colour = "currentColor", label }: SparklineProps) {
  const path = sparkPath(x ?? Float64Array.from(y.keys()), y, width, height);
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role={label === undefined ? "presentation" : "img"}
      aria-label={label ?? ""}
    >
      <path
        d={path}
        fill="none"
        stroke={colour}
        stroke-width="1.25"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  );
}

function extentOf(values: Float64Array): Range | null {
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min > max) return null;
  // a constant lies in the middle
  return min === max ? { min: min - 1, max: max + 1 } : { min, max };
}
