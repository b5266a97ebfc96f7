// Parallel coordinates: each run is a strand through one axis per key. A drag along an axis brushes a range of it; runs
// outside any brush are dim. Texts get equal places in order, numbers their own scale.

import { useMemo } from "preact/hooks";
import { number } from "../../series/format";
import type { Scale } from "../../view/state";
import { axisTicks } from "../axis";
import { type Bend, bendOf, type PixelScale, pixelScale, type Range } from "../scale";
import { followDrag } from "./drag";
import { useWidth } from "./frame";
import { useMarked } from "./marked";

export type Cell = number | string | null;

export interface ParallelAxis {
  readonly name: string;
  /** One for each row; null where the run has none. */
  readonly values: readonly Cell[];
  readonly scale?: Scale;
}

export interface ParallelRow {
  readonly id: string;
  readonly label: string;
  readonly colour: string;
}

/** By axis name: a range of numbers, or of places in the order of texts. */
export type Brushes = Readonly<Record<string, Range>>;

export interface ParallelProps {
  readonly rows: readonly ParallelRow[];
  readonly axes: readonly ParallelAxis[];
  readonly height?: number;
  readonly brushes?: Brushes;
  /** Ids that are brushed, here or elsewhere; left out, those that pass the brushes. */
  readonly brushed?: ReadonlySet<string> | null;
  readonly highlighted?: string | null;
  /** The brushes as they are now, and the rows that pass all of them. */
  readonly onBrush?: (brushes: Brushes, ids: ReadonlySet<string> | null) => void;
  readonly onHover?: (id: string | null) => void;
}

const INSET = { left: 48, right: 48, top: 40, bottom: 20 };
const KEY_STEP = 0.05;

interface PlacedAxis {
  readonly axis: ParallelAxis;
  readonly x: number;
  /** Pixels to the nearer end of the picture or, if less, half way to the next axis. */
  readonly room: number;
  readonly ys: PixelScale;
  /** Texts in order; null if the axis has numbers. */
  readonly names: readonly string[] | null;
  readonly places: readonly number[];
}

/** Return each row's place along an axis (NaN if it has none), the texts if it has any, and the range of all. */
export function placeValues({ values, scale = "linear" }: ParallelAxis): {
  places: number[];
  names: string[] | null;
  range: Range;
  bend: Bend;
} {
  const isNumeric = values.every((value) => value === null || typeof value === "number");
  const bend = bendOf(isNumeric ? scale : "linear");
  const texts = new Set(values.filter((value) => value !== null).map(String));
  const names = isNumeric ? null : [...texts].sort();
  const places = values.map((value) => {
    if (value === null) return Number.NaN;
    if (names !== null) return names.indexOf(String(value));
    return Number.isFinite(bend.to(value as number)) ? (value as number) : Number.NaN;
  });
  const known = places.filter((place) => !Number.isNaN(place));
  let min = known.reduce((a, b) => Math.min(a, b), Infinity);
  let max = known.reduce((a, b) => Math.max(a, b), -Infinity);
  if (min > max) [min, max] = scale === "log" ? [1, 10] : [0, 1];
  if (min === max)
    [min, max] = scale === "log" && names === null ? [min / 2, min * 2] : [min - 0.5, max + 0.5];
  return { places, names, range: { min, max }, bend };
}

/** Return the ids of the rows that lie in all brushes, null if there is no brush. */
export function brushedRows(
  rows: readonly ParallelRow[],
  axes: readonly ParallelAxis[],
  brushes: Brushes,
): Set<string> | null {
  const active = axes.filter((axis) => brushes[axis.name] !== undefined);
  if (active.length === 0) return null;
  const ids = new Set(rows.map((row) => row.id));
  for (const axis of active) {
    const { min, max } = brushes[axis.name] as Range;
    placeValues(axis).places.forEach((place, i) => {
      if (!(place >= min && place <= max)) ids.delete(rows[i]?.id ?? "");
    });
  }
  return ids;
}

export function Parallel(props: ParallelProps) {
  const { rows, axes, height = 340, brushes = {}, highlighted = null, onBrush, onHover } = props;
  const [holder, width] = useWidth();
  const placed = useMemo(() => placeAxes(axes, width, height), [axes, width, height]);
  const ids = props.brushed === undefined ? brushedRows(rows, axes, brushes) : props.brushed;
  const change = (name: string, range: Range | null): void => {
    const { [name]: _old, ...others } = brushes;
    const next = range === null ? others : { ...others, [name]: range };
    onBrush?.(next, brushedRows(rows, axes, next));
  };
  const strands = useMemo(
    () =>
      rows.map((row, i) => (
        <path
          key={row.id}
          class="strand"
          d={strand(placed, i)}
          stroke={row.colour}
          onPointerEnter={() => onHover?.(row.id)}
          onPointerLeave={() => onHover?.(null)}
        >
          <title>{`${row.label}\n${axes.map((axis) => `${axis.name}: ${cellText(axis.values[i])}`).join("\n")}`}</title>
        </path>
      )),
    [rows, axes, placed, onHover],
  );
  const marked = useMarked(rows, ids, highlighted);
  return (
    <div ref={holder} class="svg-chart" style={{ height: `${height}px` }}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="application"
          aria-roledescription="parallel coordinates"
          aria-label={`${rows.length} runs over ${axes.length} axes`}
        >
          <g ref={marked}>{strands}</g>
          {placed.map((one) => (
            <AxisColumn
              key={one.axis.name}
              placed={one}
              brush={brushes[one.axis.name] ?? null}
              onBrush={change}
            />
          ))}
        </svg>
      )}
    </div>
  );
}

function placeAxes(axes: readonly ParallelAxis[], width: number, height: number): PlacedAxis[] {
  const gap = axes.length > 1 ? (width - INSET.left - INSET.right) / (axes.length - 1) : 0;
  return axes.map((axis, i) => {
    const { places, names, range, bend } = placeValues(axis);
    const ys = pixelScale(bend, range, height - INSET.bottom, INSET.top);
    const x = INSET.left + i * gap;
    const room = Math.min(x, width - x, gap > 0 ? gap / 2 : width);
    return { axis, x, room, ys, names, places };
  });
}

interface AxisColumnProps {
  readonly placed: PlacedAxis;
  readonly brush: Range | null;
  readonly onBrush: (name: string, range: Range | null) => void;
}

/** Pixels that a letter of an axis's name takes. */
const LETTER = 5.2;

function AxisColumn({ placed: { axis, x, room, ys, names }, brush, onBrush }: AxisColumnProps) {
  const most = Math.max(6, Math.floor((2 * room) / LETTER));
  // whole numbers (layers, seeds) have no halves between them
  const isWhole = axis.values.every((value) => value === null || Number.isInteger(value));
  const ticks = axisTicks(isWhole ? "step" : "value", ys.bend);
  const places = names === null ? ticks.places(ys, 6) : names.map((_, i) => i);
  const labels = names ?? ticks.labels(places);
  const set = (a: number, b: number): void => {
    const clamp = (pixel: number): number => ys.invert(Math.max(ys.to, Math.min(ys.from, pixel)));
    onBrush(axis.name, { min: clamp(Math.max(a, b)), max: clamp(Math.min(a, b)) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (event.key === "Escape") onBrush(axis.name, null);
    else if (by !== 0) {
      // the arrows move the brush, with Shift its lower end
      const step = by * KEY_STEP * (ys.from - ys.to);
      const top = brush === null ? ys.to : ys.at(brush.max);
      const bottom = brush === null ? (ys.from + ys.to) / 2 : ys.at(brush.min);
      if (event.shiftKey) set(top, Math.max(top + 4, bottom + step));
      else if (top + step >= ys.to - 1 && bottom + step <= ys.from + 1) set(top + step, bottom + step);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const text = (place: number): string => (names === null ? number(place) : (names[Math.round(place)] ?? ""));
  return (
    <g
      class="axis"
      role="slider"
      tabindex={0}
      aria-label={`Brush ${axis.name}`}
      aria-orientation="vertical"
      aria-valuemin={ys.min}
      aria-valuemax={ys.max}
      aria-valuenow={brush?.max ?? ys.max}
      aria-valuetext={brush === null ? "all" : `${text(brush.min)} to ${text(brush.max)}`}
      transform={`translate(${x} 0)`}
      onKeyDown={onKeyDown}
      onPointerDown={(event) =>
        followDrag(event, { move: (from, to) => set(from.y, to.y), click: () => onBrush(axis.name, null) })
      }
    >
      <line class="tick" y1={ys.to} y2={ys.from} />
      <text class="axis-name" y={18} text-anchor="middle">
        {axis.name.length > most ? `…${axis.name.slice(1 - most)}` : axis.name}
        <title>{axis.name}</title>
      </text>
      {places.map((place, i) => (
        <text key={place} x={-6} y={ys.at(place)} dy="0.35em" text-anchor="end">
          {(labels[i] ?? "").slice(0, 14)}
        </text>
      ))}
      {brush !== null && (
        <rect
          class="brush"
          x={-8}
          width={16}
          y={ys.at(brush.max)}
          height={Math.max(2, ys.at(brush.min) - ys.at(brush.max))}
        />
      )}
      <rect class="handle" x={-14} width={28} y={ys.to} height={ys.from - ys.to} />
    </g>
  );
}

/** Return the path of one row; an axis on which it has no value breaks it. */
function strand(placed: readonly PlacedAxis[], row: number): string {
  let path = "";
  let isOn = false;
  for (const { x, ys, places } of placed) {
    const place = places[row] ?? Number.NaN;
    if (Number.isNaN(place)) {
      isOn = false;
      continue;
    }
    path += `${isOn ? "L" : "M"}${x.toFixed(1)} ${ys.at(place).toFixed(1)}`;
    isOn = true;
  }
  return path;
}

function cellText(value: Cell | undefined): string {
  if (value === null || value === undefined) return "none";
  return typeof value === "number" ? number(value) : value;
}
