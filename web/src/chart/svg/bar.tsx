// One number of each run (or group) as lying bars, with a whisker for its spread and a line for the baseline.

import { number } from "../../series/format";
import { bendOf, pixelScale } from "../scale";
import { useWidth } from "./frame";

export interface Bar {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  readonly colour: string;
  /** Spread of a group. */
  readonly low?: number;
  readonly high?: number;
}

export interface BarsProps {
  readonly bars: readonly Bar[];
  /** What the value is. */
  readonly name: string;
  readonly baseline?: number | null;
  readonly brushed?: ReadonlySet<string> | null;
  readonly highlighted?: string | null;
  readonly onBrush?: (ids: ReadonlySet<string> | null) => void;
  readonly onHover?: (id: string | null) => void;
}

const ROW = 26;
const VALUE_WIDTH = 64;

export function Bars({
  bars,
  name,
  baseline = null,
  brushed = null,
  highlighted,
  onBrush,
  onHover,
}: BarsProps) {
  const [holder, width] = useWidth();
  const labelWidth = Math.min(180, width * 0.32);
  const ends = bars
    .flatMap((bar) => [bar.value, bar.low ?? bar.value, bar.high ?? bar.value])
    .filter(Number.isFinite);
  // bars begin at 0, or their lengths would say nothing
  const range = { min: Math.min(0, baseline ?? 0, ...ends), max: Math.max(0, baseline ?? 0, ...ends) };
  const xs = pixelScale(
    bendOf("linear"),
    range,
    labelWidth + 8,
    Math.max(labelWidth + 9, width - VALUE_WIDTH),
  );
  const height = bars.length * ROW;

  const toggle = (id: string): void => {
    const ids = new Set(brushed ?? []);
    if (!ids.delete(id)) ids.add(id);
    onBrush?.(ids.size === 0 ? null : ids);
  };
  const onKeyDown = (event: KeyboardEvent, id: string): void => {
    const here = event.currentTarget as SVGElement;
    const beside = event.key === "ArrowDown" ? here.nextElementSibling : here.previousElementSibling;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") (beside as SVGElement | null)?.focus?.();
    else if (event.key === " " || event.key === "Enter") toggle(id);
    else if (event.key === "Escape") onBrush?.(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={holder} class="svg-chart">
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="application"
          aria-roledescription="bar chart"
          aria-label={name}
        >
          {baseline !== null && (
            <line class="baseline" x1={xs.at(baseline)} x2={xs.at(baseline)} y1={0} y2={height} />
          )}
          <g role="listbox" aria-label={name} aria-multiselectable="true">
            {bars.map((bar, i) => (
              <g
                key={bar.id}
                role="option"
                class={brushed !== null && !brushed.has(bar.id) ? "svg-bar dim" : "svg-bar"}
                aria-selected={brushed?.has(bar.id) ?? false}
                aria-label={`${bar.label}: ${number(bar.value)}`}
                tabindex={i === 0 ? 0 : -1}
                transform={`translate(0 ${i * ROW})`}
                onClick={() => toggle(bar.id)}
                onKeyDown={(event) => onKeyDown(event, bar.id)}
                onFocus={() => onHover?.(bar.id)}
                onPointerEnter={() => onHover?.(bar.id)}
                onPointerLeave={() => onHover?.(null)}
              >
                <title>{`${bar.label}: ${number(bar.value)}`}</title>
                <rect
                  class={bar.id === highlighted ? "svg-row meant" : "svg-row"}
                  width={width}
                  height={ROW}
                />
                <text x={labelWidth} y={ROW / 2} dy="0.35em" text-anchor="end">
                  {shortened(bar.label, labelWidth)}
                </text>
                <BarShape bar={bar} xs={xs} />
              </g>
            ))}
          </g>
        </svg>
      )}
    </div>
  );
}

function BarShape({ bar, xs }: { bar: Bar; xs: ReturnType<typeof pixelScale> }) {
  if (!Number.isFinite(bar.value)) {
    return (
      <text class="value" x={xs.at(0) + 6} y={ROW / 2} dy="0.35em">
        {number(bar.value)}
      </text>
    );
  }
  const [zero, end] = [xs.at(0), xs.at(bar.value)];
  const far = Math.max(end, zero, bar.high === undefined ? 0 : xs.at(bar.high));
  return (
    <>
      <rect
        x={Math.min(zero, end)}
        y={6}
        width={Math.max(1, Math.abs(end - zero))}
        height={ROW - 12}
        rx={2}
        fill={bar.colour}
      />
      {bar.low !== undefined && bar.high !== undefined && (
        <path class="whisker" d={`M${xs.at(bar.low)} ${ROW / 2}H${xs.at(bar.high)}`} />
      )}
      <text class="value" x={far + 6} y={ROW / 2} dy="0.35em">
        {number(bar.value)}
      </text>
    </>
  );
}

/** SVG text does not cut itself: about 6.5 pixels a letter, the start and the end kept, since names differ at both. */
function shortened(label: string, width: number): string {
  const most = Math.max(6, Math.floor(width / 6.5));
  if (label.length <= most) return label;
  const end = Math.floor(most / 2) - 1;
  return `${label.slice(0, most - end - 1)}…${label.slice(label.length - end)}`;
}
