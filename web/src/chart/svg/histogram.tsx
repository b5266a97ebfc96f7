// How often values occur, as columns between edges. A drag (or Shift with the arrow keys) brushes a range of values.

import { useState } from "preact/hooks";
import { count, number } from "../../series/format";
import { bendOf, pixelScale, type Range } from "../scale";
import { followDrag } from "./drag";
import { Axes, useWidth } from "./frame";

export interface HistogramProps {
  /** One more than counts, ascending. */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
  /** What was measured. */
  readonly name: string;
  readonly colour?: string;
  readonly height?: number;
  readonly brush?: Range | null;
  readonly onBrush?: (range: Range | null) => void;
}

const INSET = { left: 52, right: 16, top: 28, bottom: 44 };

export function Histogram(props: HistogramProps) {
  const { edges, counts, name, colour = "var(--accent)", height = 240, brush = null, onBrush } = props;
  const [holder, width] = useWidth();
  const [bin, setBin] = useState(-1);
  const [anchor, setAnchor] = useState(-1);
  const first = edges[0] ?? 0;
  const last = edges[edges.length - 1] ?? 1;
  const linear = bendOf("linear");
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  const xs = pixelScale(
    linear,
    { min: first, max: last },
    INSET.left,
    Math.max(INSET.left + 1, width - INSET.right),
  );
  const ys = pixelScale(linear, { min: 0, max: most * 1.05 }, height - INSET.bottom, INSET.top);

  const walk = (by: number, isBrushing: boolean): void => {
    const next = Math.max(0, Math.min(counts.length - 1, bin + by));
    const from = isBrushing ? (anchor < 0 ? Math.max(0, bin) : anchor) : -1;
    setBin(next);
    setAnchor(from);
    if (from >= 0) {
      const [a, b] = [Math.min(from, next), Math.max(from, next)];
      onBrush?.({ min: edges[a] as number, max: edges[b + 1] as number });
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowRight") walk(1, event.shiftKey);
    else if (event.key === "ArrowLeft") walk(-1, event.shiftKey);
    else if (event.key === "Escape") {
      setAnchor(-1);
      onBrush?.(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isIn = (i: number): boolean =>
    brush === null || ((edges[i + 1] as number) > brush.min && (edges[i] as number) < brush.max);
  const binText = (i: number): string =>
    `${number(edges[i] as number)} to ${number(edges[i + 1] as number)}: ${count(counts[i] as number)}`;
  const total = counts.reduce((a, b) => a + b, 0);
  return (
    <div ref={holder} class="svg-chart" style={{ height: `${height}px` }}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="application"
          aria-roledescription="histogram"
          aria-label={`${name}: ${count(total)} values from ${number(first)} to ${number(last)}. Arrow keys walk, with Shift they brush.`}
          // lower case: SVG attributes are what they are called
          tabindex={0}
          onKeyDown={onKeyDown}
          onPointerDown={(event) =>
            followDrag(event, {
              move: (from, to) => {
                const [a, b] = [xs.invert(Math.min(from.x, to.x)), xs.invert(Math.max(from.x, to.x))];
                onBrush?.({ min: Math.max(first, a), max: Math.min(last, b) });
              },
              click: () => onBrush?.(null),
            })
          }
        >
          <Axes xs={xs} ys={ys} xName={name} yName="count" />
          {counts.map((value, i) => {
            const [left, right] = [xs.at(edges[i] as number), xs.at(edges[i + 1] as number)];
            return (
              <rect
                key={edges[i]}
                class={isIn(i) ? "column" : "column dim"}
                x={left}
                y={ys.at(value)}
                width={Math.max(0.5, right - left - (right - left > 4 ? 1 : 0))}
                height={Math.max(0, ys.from - ys.at(value))}
                fill={i === bin ? "var(--text)" : colour}
              >
                <title>{binText(i)}</title>
              </rect>
            );
          })}
          {brush !== null && (
            <rect
              class="brush"
              x={xs.at(brush.min)}
              y={ys.to}
              width={Math.max(1, xs.at(brush.max) - xs.at(brush.min))}
              height={ys.from - ys.to}
            />
          )}
        </svg>
      )}
      <span class="unseen" role="status">
        {bin >= 0 && bin < counts.length && binText(bin)}
      </span>
    </div>
  );
}

/** Return edges and counts of values in equal columns; what is not finite is left out. */
export function histogramOf(values: Float64Array, columns = 40): { edges: number[]; counts: number[] } {
  const finite = values.filter(Number.isFinite);
  let min = Infinity;
  let max = -Infinity;
  for (const value of finite) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min > max) return { edges: [0, 1], counts: [0] };
  if (min === max) return { edges: [min - 0.5, min + 0.5], counts: [finite.length] };
  const edges = Array.from({ length: columns + 1 }, (_, i) => min + ((max - min) * i) / columns);
  const counts = new Array<number>(columns).fill(0);
  for (const value of finite) {
    const at = Math.min(columns - 1, Math.floor(((value - min) / (max - min)) * columns));
    counts[at] = (counts[at] as number) + 1;
  }
  return { edges, counts };
}
