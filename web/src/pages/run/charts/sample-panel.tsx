// One chart of samples: its curves while it is near the screen, asked for again as the run goes on.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
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
import type { Sampler } from "../documents";
import { useRun } from "../model";
import { type ColourBy, hostsOf, laneNames, rankOf, ranksOf } from "./samplers";

const HEIGHT = 180;
/** Samples come seldom; asking for each piece of news would be more than there is. */
const EVERY = 5;
const MOST_NAMED = 8;

export interface SamplePanelProps {
  title: string;
  /** Key -> the name of its line. */
  lines: ReadonlyMap<string, string>;
  isSystem: boolean;
  /** Who sampled, which of them are shown, and what colours tell apart; left out for what was logged. */
  who?: Who;
  axis: "wall" | "relative";
  zoom: Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
}

export interface Who {
  readonly samplers: readonly Sampler[];
  /** The lanes that are shown, null for all. */
  readonly lanes: ReadonlySet<string> | null;
  readonly colourBy: ColourBy;
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

function Body({ title, lines: names, isSystem, who, axis, zoom, onZoom }: SamplePanelProps): JSX.Element {
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
    () => (curves === null ? null : linesOf(curves, names, who, model.id)),
    [curves, names, who, model.id],
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

/** Names with the values under the crosshair; many have to be asked for. */
function Legend({ lines, axis }: { lines: readonly Line[]; axis: string }): JSX.Element {
  const [isAll, setAll] = useState(false);
  const at = crosshair.value;
  const x = at !== null && at.axis === axis ? at.x : null;
  // of several attempts of one process the last one says what is now
  const named = [...new Map(lines.map((line) => [line.label, line])).values()];
  const shown = isAll || named.length <= MOST_NAMED + 1 ? named : named.slice(0, MOST_NAMED);
  return (
    <ul class="system-legend">
      {shown.map((line) => {
        const index = x === null ? lastIndex(line.y) : nearestIndex(line.x, line.y, x);
        return (
          <li key={line.id} title={line.label}>
            <span class="attempt-mark" style={{ background: line.colour }} />
            <span class="cut">{line.label}</span>
            {index >= 0 && <strong>{number(line.y[index] as number)}</strong>}
          </li>
        );
      })}
      {shown.length < named.length && (
        <li>
          <button type="button" class="link" onClick={() => setAll(true)}>
            {shown.length} of {named.length}: show all
          </button>
        </li>
      )}
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
  who: Who | undefined,
  run: string,
): Line[] {
  const lanes = who === undefined ? new Map<string, string>() : laneNames(who.samplers);
  const samplers = new Map(who?.samplers.map((one) => [one.lane, one]));
  // one colour for a host or rank in all panels
  const told =
    who === undefined || who.colourBy === "device"
      ? []
      : who.colourBy === "host"
        ? hostsOf(who.samplers)
        : ranksOf(who.samplers);
  const places = new Map(told.map((name, place) => [name, place]));
  const shown = curves.filter((curve) => who?.lanes?.has(curve.lane) ?? true);
  return shown.map((curve) => {
    const name = names.get(curve.key) ?? curve.key;
    const lane = lanes.get(curve.lane) ?? "";
    const label = lane === "" ? name : `${name}, ${lane}`;
    const sampler = samplers.get(curve.lane);
    const meant =
      sampler === undefined || told.length === 0
        ? label
        : who?.colourBy === "host"
          ? sampler.host
          : rankOf(sampler);
    if (!places.has(meant)) places.set(meant, places.size);
    const place = places.get(meant) as number;
    return lineOf(curve, {
      id: `${curve.key} ${curve.lane}`,
      label,
      colour: who === undefined ? runColour(run) : (COLOURS[place % COLOURS.length] as string),
      dash: [],
      width: 1.5,
      faint: false,
    });
  });
}
