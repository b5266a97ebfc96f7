// One panel over the whole middle of the page: its own options, an exact range, the values as a table, export. The run
// list stays beside it, with the values under the crosshair.

import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chart } from "../../../chart/chart";
import { Button, IconButton } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { Menu } from "../../../ui/menu";
import { Segments } from "../../../ui/tabs";
import { type ChartOptions, panelOptions, type Zoom } from "../../../view/state";
import { AxisPicker, BandControl, ClipControl, ScalePicker, SmoothingControl } from "../bar/options";
import { ownerOf } from "../data/lines";
import { useWorkspace } from "../workspace";
import { Legend } from "./legend";
import { emptyText, useLegend } from "./panel";
import { RawTable } from "./raw-table";
import { rightTitle } from "./right-axis";
import { editedRight } from "./right-axis-editor";
import { metricPanel, ownPanel } from "./specs";
import { changeOptions, exportItems, useShown } from "./state";
import { useLines } from "./use-lines";
import "./full-screen.css";

const POINTS = 2000;
const MARGIN = 14;
const TABS = [
  { value: "chart", title: "Chart" },
  { value: "table", title: "Values" },
] as const;

export function FullScreen({ id }: { id: string }): JSX.Element {
  const workspace = useWorkspace();
  const { charts, runs } = workspace.view.value;
  const keys = workspace.keys.keys.value;
  const own = charts.panels.find((panel) => panel.id === id);
  const spec = useMemo(() => (own ? ownPanel(own, keys) : metricPanel(id)), [own, id, keys]);
  const options = useMemo(() => panelOptions(charts, id), [charts, id]);
  const [tab, setTab] = useState<"chart" | "table">("chart");
  const isLinked = options.xAxis === charts.xAxis;
  const [ownZoom, setOwnZoom] = useState<Zoom | null>(null);
  const zoom = isLinked ? charts.zoom : ownZoom;
  const setZoom = (to: Zoom | null): void => {
    if (isLinked) workspace.change({ charts: { zoom: to } });
    else setOwnZoom(to);
  };
  const { lines, clip, keys: drawn, waiting, isRaw } = useLines(workspace, spec, options, zoom, POINTS);
  useShown(id, { lines, clip, zoom, options, title: spec.title, rightName: rightTitle(drawn, spec) });
  const legend = useLegend(workspace, spec, drawn, lines);
  const place = useRef<HTMLDivElement>(null);
  const height = useHeight(place, legend.length);
  const set = (next: Partial<ChartOptions>, replace = false): void =>
    changeOptions(workspace, id, next, { replace });
  return (
    <section class="full" aria-label={spec.title}>
      <header class="full-head">
        <IconButton
          icon="back"
          label="Back to all panels"
          keys="Esc"
          onClick={() => workspace.change({ charts: { fullScreen: null } })}
        />
        <h2 class="cut" title={spec.title}>
          {spec.title}
        </h2>
        <Segments label="Show as" options={TABS} value={tab} onChange={setTab} />
        <Menu
          label="Export"
          align="end"
          items={exportItems(id)}
          trigger={(props) => (
            <Button {...props} icon="download">
              Export
            </Button>
          )}
        />
      </header>
      <div class="full-options" role="toolbar" aria-label="This panel">
        <AxisPicker xAxis={options.xAxis} onChange={(xAxis) => set({ xAxis })} />
        <ScalePicker options={options} onChange={set} />
        <SmoothingControl options={options} onChange={set} />
        <ClipControl options={options} onChange={set} />
        {runs.group.length > 0 && <BandControl options={options} onChange={set} />}
        <Button
          pressed={options.right.length > 0}
          title="What the y axis on the right measures (Y)"
          onClick={() => {
            editedRight.value = id;
          }}
        >
          Right axis
        </Button>
        <RangeFields zoom={zoom} onChange={setZoom} />
        {charts.overrides[id] !== undefined && (
          <Button kind="quiet" onClick={() => changeOptions(workspace, id, null)}>
            As all panels
          </Button>
        )}
      </div>
      {legend.length > 0 && <Legend entries={legend} isWhole />}
      <div ref={place} />
      {spec.problem !== null && <p class="panel-note panel-bad">{spec.problem}</p>}
      {lines.length === 0 && spec.problem === null && (
        <p class="panel-note quiet">{waiting > 0 ? "Loading" : emptyText(workspace, options.difference)}</p>
      )}
      {lines.length > 0 && tab === "chart" && (
        <Chart
          lines={lines}
          title={spec.title}
          xAxis={options.xAxis}
          xScale={options.xScale}
          yScale={options.yScale}
          rightScale={options.rightScale}
          zoom={zoom}
          onZoom={setZoom}
          clip={clip}
          height={height}
          runOf={ownerOf}
        />
      )}
      {lines.length > 0 && tab === "table" && (
        <RawTable lines={lines} xAxis={options.xAxis} zoom={zoom} isRaw={isRaw} height={height} />
      )}
    </section>
  );
}

/** What is left of the window below the bars. */
function useHeight(place: RefObject<HTMLDivElement>, entries: number): number {
  const [height, setHeight] = useState(400);
  useLayoutEffect(() => {
    const read = (): void => {
      const top = place.current?.getBoundingClientRect().top ?? 0;
      setHeight(Math.max(240, Math.floor(window.innerHeight - top - MARGIN)));
    };
    read();
    window.addEventListener("resize", read);
    return () => window.removeEventListener("resize", read);
  }, [place, entries]); // a legend may push it down
  return height;
}

function RangeFields({
  zoom,
  onChange,
}: {
  zoom: Zoom | null;
  onChange: (zoom: Zoom | null) => void;
}): JSX.Element {
  const [first, setFirst] = useState("");
  const [last, setLast] = useState("");
  useEffect(() => {
    setFirst(zoom === null ? "" : String(Number(zoom.first.toPrecision(10))));
    setLast(zoom === null ? "" : String(Number(zoom.last.toPrecision(10))));
  }, [zoom?.first, zoom?.last]);
  const apply = (): void => {
    const next = { first: Number(first), last: Number(last) };
    if (first === "" && last === "") onChange(null);
    else if (next.last > next.first) onChange(next);
  };
  return (
    <form
      class="full-range"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextField label="From" placeholder="From" value={first} onInput={setFirst} onEnter={apply} />
      <TextField label="To" placeholder="To" value={last} onInput={setLast} onEnter={apply} />
      {zoom !== null && <IconButton icon="zoomOut" label="Show everything" onClick={() => onChange(null)} />}
    </form>
  );
}
