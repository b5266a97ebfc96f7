// Two numbers of each run against each other. A drag brushes the runs in a rectangle; props in, events out.

import { useMemo, useState } from "preact/hooks";
import { number } from "../../series/format";
import type { Scale } from "../../view/state";
import { bendOf, pixelScale, type Range } from "../scale";
import { followDrag, type Place } from "./drag";
import { Axes, useWidth } from "./frame";
import { useMarked } from "./marked";

export interface ScatterPoint {
  readonly id: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly colour: string;
}

export interface ScatterProps {
  readonly points: readonly ScatterPoint[];
  readonly xName: string;
  readonly yName: string;
  readonly xScale?: Scale;
  readonly yScale?: Scale;
  readonly height?: number;
  /** Ids that are brushed, here or elsewhere; null if nothing is. */
  readonly brushed?: ReadonlySet<string> | null;
  readonly highlighted?: string | null;
  readonly onBrush?: (ids: ReadonlySet<string> | null) => void;
  readonly onHover?: (id: string | null) => void;
}

const INSET = { left: 56, right: 16, top: 28, bottom: 44 };

export function Scatter(props: ScatterProps) {
  const {
    xName,
    yName,
    xScale = "linear",
    yScale = "linear",
    height = 320,
    brushed = null,
    onBrush,
    onHover,
  } = props;
  const [holder, width] = useWidth();
  const [box, setBox] = useState<{ from: Place; to: Place } | null>(null);
  const [at, setAt] = useState(-1);
  const { points } = props;
  const { shown, xs, ys } = useMemo(() => {
    const placed = points.filter((point) => isPlaced(point.x, xScale) && isPlaced(point.y, yScale));
    return {
      shown: placed,
      xs: pixelScale(bendOf(xScale), rangeOf(placed, "x", xScale), INSET.left, width - INSET.right),
      ys: pixelScale(bendOf(yScale), rangeOf(placed, "y", yScale), height - INSET.bottom, INSET.top),
    };
  }, [points, xScale, yScale, width, height]);
  const missing = points.length - shown.length;

  const brush = (from: Place, to: Place): void => {
    setBox({ from, to });
    const inside = shown.filter((point) => {
      const [x, y] = [xs.at(point.x), ys.at(point.y)];
      return isBetween(x, from.x, to.x) && isBetween(y, from.y, to.y);
    });
    onBrush?.(new Set(inside.map((point) => point.id)));
  };
  const clear = (): void => {
    setBox(null);
    onBrush?.(null);
  };
  const walk = (by: number): void => {
    const order = shown.map((_, i) => i).sort((a, b) => (shown[a]?.x ?? 0) - (shown[b]?.x ?? 0));
    const next = order[(order.indexOf(at) + by + order.length) % order.length] ?? -1;
    setAt(next);
    onHover?.(shown[next]?.id ?? null);
  };
  const toggle = (): void => {
    const point = shown[at];
    if (point === undefined) return;
    const ids = new Set(brushed ?? []);
    if (!ids.delete(point.id)) ids.add(point.id);
    onBrush?.(ids.size === 0 ? null : ids);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowRight" || event.key === "ArrowDown") walk(1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") walk(-1);
    else if (event.key === " ") toggle();
    else if (event.key === "Escape") clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const current = shown[at];
  const meant = props.highlighted ?? current?.id ?? null;
  const marked = useMarked(shown, brushed, meant);
  const drawing = useMemo(
    () => (
      <>
        <Axes xs={xs} ys={ys} xName={xName} yName={yName} />
        <g ref={marked}>
          {shown.map((point) => (
            <circle
              key={point.id}
              class="point"
              cx={xs.at(point.x)}
              cy={ys.at(point.y)}
              r={4}
              fill={point.colour}
              onPointerEnter={() => onHover?.(point.id)}
            >
              <title>{`${point.label}\n${xName} ${number(point.x)}\n${yName} ${number(point.y)}`}</title>
            </circle>
          ))}
        </g>
      </>
    ),
    [shown, xs, ys, xName, yName, onHover],
  );
  return (
    <div ref={holder} class="svg-chart" style={{ height: `${height}px` }}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="application"
          aria-roledescription="scatter chart"
          aria-label={`${yName} against ${xName}, ${shown.length} points. Arrow keys walk, Space brushes, Escape clears.`}
          // lower case: SVG attributes are what they are called
          tabindex={0}
          onKeyDown={onKeyDown}
          onPointerDown={(event) => followDrag(event, { move: brush, click: clear })}
          onPointerLeave={() => onHover?.(null)}
        >
          {drawing}
          {box !== null && brushed !== null && (
            <rect
              class="brush"
              x={Math.min(box.from.x, box.to.x)}
              y={Math.min(box.from.y, box.to.y)}
              width={Math.abs(box.to.x - box.from.x)}
              height={Math.abs(box.to.y - box.from.y)}
            />
          )}
        </svg>
      )}
      {missing > 0 && <p class="svg-note">{`${missing} of ${points.length} have no place on these axes`}</p>}
      <span class="unseen" role="status">
        {current !== undefined &&
          `${current.label}: ${xName} ${number(current.x)}, ${yName} ${number(current.y)}`}
      </span>
    </div>
  );
}

function isPlaced(value: number, scale: Scale): boolean {
  return Number.isFinite(value) && (scale !== "log" || value > 0);
}

function isBetween(value: number, a: number, b: number): boolean {
  return value >= Math.min(a, b) && value <= Math.max(a, b);
}

function rangeOf(points: readonly ScatterPoint[], column: "x" | "y", scale: Scale): Range {
  const bend = bendOf(scale);
  const places = points.map((point) => bend.to(point[column]));
  const min = places.reduce((least, place) => Math.min(least, place), Infinity);
  const max = places.reduce((most, place) => Math.max(most, place), -Infinity);
  if (min > max) return scale === "log" ? { min: 1, max: 10 } : { min: 0, max: 1 };
  const room = (max - min) * 0.06 || 0.5;
  return { min: bend.from(min - room), max: bend.from(max + room) };
}
