// What the small SVG charts share: their width, and axes with ticks and names.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type AxisTicks, axisTicks, X_SPACE, Y_SPACE } from "../axis";
import { watchSize } from "../mount";
import type { PixelScale } from "../scale";
import "./svg.css";

/** Return the ref of an element and its width in CSS pixels, 0 before it is known. */
export function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (holder.current === null) return;
    return watchSize(holder.current, ({ contentRect }) => setWidth(Math.floor(contentRect.width)));
  }, []);
  return [holder, width];
}

export interface AxesProps {
  readonly xs: PixelScale;
  readonly ys: PixelScale;
  readonly xName: string;
  readonly yName: string;
  /** What x measures, see axisTicks. */
  readonly xAxis?: string;
  /** Names at x = 0, 1, … instead of numbers. */
  readonly xNames?: readonly string[] | null;
}

/** Draw both axes of a plot whose corners are the ends of its scales. */
export function Axes({ xs, ys, xName, yName, xAxis = "value", xNames = null }: AxesProps) {
  const xTicks = xNames === null ? axisTicks(xAxis, xs.bend) : nameTicks(xNames);
  const yTicks = axisTicks("value", ys.bend);
  const xPlaces = xTicks.places(xs, Math.max(2, Math.floor((xs.to - xs.from) / X_SPACE)));
  const yPlaces = yTicks.places(ys, Math.max(2, Math.floor((ys.from - ys.to) / Y_SPACE)));
  const xLabels = xTicks.labels(xPlaces);
  const yLabels = yTicks.labels(yPlaces);
  return (
    <g class="axes">
      {yPlaces.map((place, i) => (
        <g key={place} transform={`translate(${xs.from} ${ys.at(place)})`}>
          <line class="svg-grid" x2={xs.to - xs.from} />
          <text x={-6} dy="0.35em" text-anchor="end">
            {yLabels[i]}
          </text>
        </g>
      ))}
      {xPlaces.map((place, i) => (
        <g key={place} transform={`translate(${xs.at(place)} ${ys.from})`}>
          <line class="tick" y2={4} />
          <text y={8} dy="0.7em" text-anchor="middle">
            {xLabels[i]}
          </text>
        </g>
      ))}
      <line class="tick" x1={xs.from} x2={xs.to} y1={ys.from} y2={ys.from} />
      <text class="axis-name" x={xs.to} y={ys.from + 32} text-anchor="end">
        {xName}
      </text>
      <text class="axis-name" x={xs.from} y={ys.to - 8}>
        {yName}
      </text>
    </g>
  );
}

/** As many names as have room, evenly. */
function nameTicks(names: readonly string[]): AxisTicks {
  return {
    places: (_range, most) => {
      const every = Math.ceil(names.length / most);
      return names.map((_, place) => place).filter((place) => place % every === 0);
    },
    labels: (places) => places.map((place) => names[place] ?? ""),
  };
}
