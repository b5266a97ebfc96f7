// One chart of samples: its curves while it is near the screen, asked for again as the run goes on.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Chart } from "../../../chart/chart";
import { crosshair } from "../../../chart/crosshair";
import { nearestIndex } from "../../../chart/lookup";
import { OnScreen } from "../../../chart/mount";
import { useSamples } from "../../../runs/use-samples";
import { type Curve, type Line, lineOf } from "../../../series/curve";
import { number } from "../../../series/format";
import { COLOURS, runColour } from "../../../series/palette";
import { ErrorNote } from "../../../ui/note";
import type { Zoom } from "../../../view/state";
import { useRun } from "../model";

const HEIGHT = 180;
/** Samples come seldom; asking for each piece of news would be more than there is. */
const EVERY = 5;

export interface SamplePanelProps {
  title: string;
  /** Key -> the name of its line. */
  lines: ReadonlyMap<string, string>;
  isSystem: boolean;
  axis: "wall" | "relative";
  zoom: Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
}

export function SamplePanelView(props: SamplePanelProps): JSX.Element {
  return (
    <article class="card system-panel" aria-label={props.title}>
      <h3 class="cut" title={props.title}>
        {props.title}
      </h3>
      <OnScreen height={HEIGHT + 22}>{() => <Body {...props} />}</OnScreen>
    </article>
  );
}

function Body({ title, lines: names, isSystem, axis, zoom, onZoom }: SamplePanelProps): JSX.Element {
  const model = useRun();
  const { curves, problem } = useSamples({
    runs: [model.path],
    keys: [...names.keys()],
    isSystem,
    axis,
    zoom,
    beat: Math.floor(model.beat.value / (isSystem ? EVERY : 1)),
  });
  const lines = useMemo(
    () => (curves === null ? null : linesOf(curves, names, isSystem, model.id)),
    [curves, names, isSystem, model.id],
  );
  if (problem && lines === null) return <ErrorNote error={problem} />;
  if (lines === null) return <p class="quiet system-note">Loading</p>;
  if (lines.length === 0) return <p class="quiet system-note">No sample in this time.</p>;
  return (
    <>
      <Chart lines={lines} title={title} xAxis={axis} zoom={zoom} onZoom={onZoom} height={HEIGHT} />
      <Legend lines={lines} axis={axis} />
    </>
  );
}

/** Names with the values under the crosshair. */
function Legend({ lines, axis }: { lines: readonly Line[]; axis: string }): JSX.Element {
  const at = crosshair.value;
  const x = at !== null && at.axis === axis ? at.x : null;
  return (
    <ul class="system-legend">
      {lines.map((line) => {
        const index = x === null ? lastIndex(line.y) : nearestIndex(line.x, line.y, x);
        return (
          <li key={line.id} title={line.label}>
            <span class="attempt-mark" style={{ background: line.colour }} />
            <span class="cut">{line.label}</span>
            {index >= 0 && <strong>{number(line.y[index] as number)}</strong>}
          </li>
        );
      })}
    </ul>
  );
}

function lastIndex(values: Float64Array): number {
  for (let i = values.length - 1; i >= 0; i--) if (!Number.isNaN(values[i])) return i;
  return -1;
}

function linesOf(
  curves: readonly Curve[],
  names: ReadonlyMap<string, string>,
  isSystem: boolean,
  run: string,
): Line[] {
  const lanes = [...new Set(curves.map((curve) => curve.lane))].sort();
  const keys = [...names.keys()];
  return curves.map((curve) => {
    const place = keys.indexOf(curve.key) * lanes.length + lanes.indexOf(curve.lane);
    const label = names.get(curve.key) ?? curve.key;
    return lineOf(curve, {
      id: `${curve.key} ${curve.lane}`,
      label: lanes.length > 1 ? `${label}, ${curve.lane.slice(0, 6)}` : label,
      colour: isSystem ? (COLOURS[place % COLOURS.length] as string) : runColour(run),
      dash: [],
      width: 1.5,
      faint: false,
    });
  });
}
