// A histogram at one step, and all steps of it as a heat map: shades of how much of each step's values is in a bin.

import type { JSX } from "preact";
import { count, number } from "../../../series/format";
import { heatOf } from "./heat";
import type { Bins } from "./records";

const WIDTH = 320;
const HEIGHT = 120;

export function Histogram({ bins, title }: { bins: Bins; title: string }): JSX.Element {
  const { values, edges } = bins;
  const low = edges[0] ?? 0;
  const high = edges.at(-1) ?? 1;
  const most = Math.max(1, ...values);
  const total = values.reduce((sum, value) => sum + value, 0);
  const at = (edge: number): number => ((edge - low) / (high - low || 1)) * WIDTH;
  return (
    <figure class="histogram">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${count(total)} values from ${number(low)} to ${number(high)}`}
      >
        {values.map((value, index) => {
          const from = at(edges[index] ?? 0);
          const to = at(edges[index + 1] ?? high);
          const tall = (value / most) * (HEIGHT - 2);
          return (
            <rect
              key={index}
              x={from + 0.25}
              y={HEIGHT - tall}
              width={Math.max(0.5, to - from - 0.5)}
              height={tall}
            >
              <title>{`${number(edges[index] ?? 0)} to ${number(edges[index + 1] ?? 0)}: ${count(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{number(low)}</span>
        <span class="quiet">
          {count(total)} values{bins.odd > 0 && `, ${count(bins.odd)} not finite`}
        </span>
        <span>{number(high)}</span>
      </figcaption>
    </figure>
  );
}

export interface StepBins {
  readonly step: number;
  readonly bins: Bins;
}

export function HistogramOverTime(props: {
  all: readonly StepBins[];
  step: number | null;
  title: string;
  onStep: (step: number) => void;
}): JSX.Element | null {
  const heat = heatOf(props.all);
  if (heat === null || heat.columns.length < 2) return null;
  const across = WIDTH / heat.columns.length;
  const down = HEIGHT / heat.rows;
  return (
    <figure class="histogram heat">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the step slider does the same with keys */}
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${props.title} over ${count(props.all.length)} steps, from ${number(heat.low)} to ${number(heat.high)}`}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const place = Math.floor(((event.clientX - box.left) / box.width) * heat.columns.length);
          const column = heat.columns[Math.max(0, Math.min(heat.columns.length - 1, place))];
          if (column) props.onStep(column.step);
        }}
      >
        {heat.columns.map((column, index) =>
          Array.from(column.shares, (share, row) =>
            share > 0 ? (
              <rect
                key={`${index} ${row}`}
                x={index * across}
                y={HEIGHT - (row + 1) * down}
                width={across + 0.3}
                height={down + 0.3}
                opacity={0.08 + 0.92 * Math.sqrt(share)}
              />
            ) : null,
          ),
        )}
        {heat.columns.map(
          (column, index) =>
            column.step === props.step && (
              <path key={column.step} class="heat-now" d={`M${(index + 0.5) * across} 0V${HEIGHT}`} />
            ),
        )}
      </svg>
      <figcaption>
        <span>step {count(heat.columns[0]?.step ?? 0)}</span>
        <span class="quiet">
          {number(heat.low)} to {number(heat.high)}, upwards
        </span>
        <span>{count(heat.columns.at(-1)?.step ?? 0)}</span>
      </figcaption>
    </figure>
  );
}
