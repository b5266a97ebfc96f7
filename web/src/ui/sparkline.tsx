// A very small chart in SVG: a line, or bars. Says nothing to screen readers but its title.

import type { JSX } from "preact";
import "./sparkline.css";

export interface SparklineProps {
  /** Gaps where a value is not finite. */
  values: ArrayLike<number>;
  /** What it shows, in words. */
  title: string;
  kind?: "line" | "bars";
  width?: number;
  height?: number;
  /** A CSS colour; the accent unless given. */
  colour?: string;
}

export function Sparkline({
  values,
  title,
  kind = "line",
  width = 96,
  height = 20,
  colour,
}: SparklineProps): JSX.Element {
  return (
    <svg
      class={`spark spark-${kind}`}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={title}
      style={colour ? { color: colour } : undefined}
    >
      <title>{title}</title>
      <path d={kind === "line" ? sparkLine(values, width, height) : sparkBars(values, width, height)} />
    </svg>
  );
}

/** Return the path of a line through the values, scaled to the box. */
export function sparkLine(values: ArrayLike<number>, width: number, height: number): string {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return "";
  const span = high - low || 1;
  const inside = height - 3;
  const across = values.length > 1 ? (width - 2) / (values.length - 1) : 0;
  let path = "";
  let isDown = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) {
      isDown = false;
      continue;
    }
    const y = high === low ? height / 2 : 1.5 + inside * (1 - (value - low) / span);
    const x = values.length > 1 ? 1 + i * across : width / 2;
    // A lone point is a dot: a line of no length with round ends.
    path += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}${isDown ? "" : "h0"}`;
    isDown = true;
  }
  return path;
}

/** Return the path of bars from the bottom; zero is a hairline, so that one sees that there is a place. */
export function sparkBars(values: ArrayLike<number>, width: number, height: number): string {
  let high = 0;
  for (let i = 0; i < values.length; i++)
    if (Number.isFinite(values[i])) high = Math.max(high, values[i] as number);
  const pitch = width / Math.max(1, values.length);
  const bar = Math.max(1, pitch - 1);
  let path = "";
  for (let i = 0; i < values.length; i++) {
    const value = Number.isFinite(values[i]) ? (values[i] as number) : 0;
    const tall = value > 0 ? Math.max(2, (value / high) * height) : 0.75;
    path += `M${(i * pitch).toFixed(1)} ${height}v${(-tall).toFixed(1)}h${bar.toFixed(1)}v${tall.toFixed(1)}z`;
  }
  return path;
}
