// One panel: its heading with what can be done to it, and its chart, which exists only while it is near the screen.

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Chart } from "../../../chart/chart";
import { OnScreen } from "../../../chart/mount";
import type { Line } from "../../../series/curve";
import { IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { Badge } from "../../../ui/note";
import { panelOptions, type Zoom } from "../../../view/state";
import { ownerOf } from "../data/lines";
import type { Workspace } from "../workspace";
import { LEGEND_HEIGHT, Legend, type LegendEntry, legendEntries } from "./legend";
import { PanelMenu } from "./panel-menu";
import { type PanelKeys, rightTitle } from "./right-axis";
import type { PanelSpec } from "./specs";
import { activePanel, changeOptions, useShown } from "./state";
import { useLines } from "./use-lines";

/** Points of each curve at most, whatever the panel's width. */
export const POINTS = 800;
export const HEIGHT = 200;

export interface PanelProps {
  readonly workspace: Workspace;
  readonly spec: PanelSpec;
  /** How wide it is, in columns of the grid. */
  readonly columns: number;
  readonly height: number;
  readonly onMove: (by: -1 | 1) => void;
  readonly onDragStart: () => void;
  readonly onDragOver: () => void;
  readonly onDrop: () => void;
  readonly onDragEnd: () => void;
  readonly onResize: (columns: number, height: number, isDone: boolean) => void;
  readonly isDropPlace: boolean;
}

export function PanelBox(props: PanelProps): JSX.Element {
  const { workspace, spec, height } = props;
  const { charts } = workspace.view.value;
  const options = panelOptions(charts, spec.id);
  const hasOwn = charts.overrides[spec.id] !== undefined;
  return (
    <article
      class={`panel${props.isDropPlace ? " panel-drop" : ""}`}
      style={{ gridColumn: `span ${props.columns}` }}
      aria-label={spec.title}
      data-panel={spec.id}
      onPointerEnter={() => {
        activePanel.value = spec.id;
      }}
      onFocusCapture={() => {
        activePanel.value = spec.id;
      }}
      onDragOver={(event) => {
        event.preventDefault();
        props.onDragOver();
      }}
      onDrop={(event) => {
        event.preventDefault();
        props.onDrop();
      }}
    >
      <header class="panel-head">
        <h3 class="panel-title cut" title={spec.title}>
          {spec.short}
        </h3>
        {options.yScale !== "linear" && <Badge>{options.yScale} y</Badge>}
        {options.difference && <Badge tone="accent">difference</Badge>}
        {/* Sixty panels may be there and fifteen be seen: the tools of the others would be most of the page's elements. */}
        <OnScreen height={0} class="panel-tools">
          {() => (
            <>
              <button
                type="button"
                class="panel-drag"
                draggable
                aria-label={`Move ${spec.title}: drag it, or use the arrow keys`}
                title="Drag to move, or use the arrow keys"
                onDragStart={(event) => {
                  event.dataTransfer?.setData("text/plain", spec.title);
                  props.onDragStart();
                }}
                onDragEnd={props.onDragEnd}
                onKeyDown={(event) => {
                  if (event.key === "ArrowLeft" || event.key === "ArrowUp") props.onMove(-1);
                  else if (event.key === "ArrowRight" || event.key === "ArrowDown") props.onMove(1);
                  else return;
                  event.preventDefault();
                  event.stopPropagation();
                }}
              >
                <Icon name="drag" />
              </button>
              {hasOwn && (
                <IconButton
                  icon="reload"
                  label="As all panels"
                  onClick={() => changeOptions(workspace, spec.id, null)}
                />
              )}
              <IconButton
                icon="expand"
                label={`Full screen: ${spec.title}`}
                keys="F"
                onClick={() => workspace.change({ charts: { fullScreen: spec.id } })}
              />
              <PanelMenu workspace={workspace} spec={spec} options={options} />
            </>
          )}
        </OnScreen>
      </header>
      <OnScreen height={height} class="panel-body">
        {() => <PanelChart {...props} />}
      </OnScreen>
      <ResizeHandle {...props} />
    </article>
  );
}

function PanelChart({ workspace, spec, height }: PanelProps): JSX.Element {
  const { charts } = workspace.view.value;
  const own = charts.overrides[spec.id];
  const options = useMemo(
    () => panelOptions(charts, spec.id),
    [
      own,
      charts.xAxis,
      charts.xScale,
      charts.yScale,
      charts.right,
      charts.rightScale,
      charts.smoothing,
      charts.clip,
      charts.aggregate,
      charts.difference,
      spec.id,
    ],
  );
  // A panel with an x axis of its own has a zoom of its own.
  const isLinked = options.xAxis === charts.xAxis;
  const [ownZoom, setOwnZoom] = useState<Zoom | null>(null);
  const zoom = isLinked ? charts.zoom : ownZoom;
  const { lines, clip, keys, waiting, problem } = useLines(workspace, spec, options, zoom, POINTS);
  useShown(spec.id, { lines, clip, zoom, options, title: spec.title, rightName: rightTitle(keys, spec) });
  const legend = useLegend(workspace, spec, keys, lines);
  if (spec.problem !== null) return <p class="panel-note panel-bad">{spec.problem}</p>;
  if (problem !== null && lines.length === 0) {
    return (
      <p class="panel-note panel-bad">
        {problem.message}{" "}
        <button type="button" class="link" onClick={() => workspace.curves.retry()}>
          Try again
        </button>
      </p>
    );
  }
  if (lines.length === 0) {
    return (
      <p class="panel-note quiet">{waiting > 0 ? "Loading" : emptyText(workspace, options.difference)}</p>
    );
  }
  return (
    <>
      {legend.length > 0 && <Legend entries={legend} />}
      <Chart
        lines={lines as Line[]}
        title={spec.title}
        xAxis={options.xAxis}
        xScale={options.xScale}
        yScale={options.yScale}
        rightScale={options.rightScale}
        zoom={zoom}
        onZoom={(to) => (isLinked ? workspace.change({ charts: { zoom: to } }) : setOwnZoom(to))}
        clip={clip}
        height={legend.length > 0 ? height - LEGEND_HEIGHT : height}
        runOf={ownerOf}
        onOpen={() => workspace.change({ charts: { fullScreen: spec.id } })}
      />
    </>
  );
}

/** What the legend of a panel says now. */
export function useLegend(
  workspace: Workspace,
  spec: PanelSpec,
  keys: PanelKeys,
  lines: readonly Line[],
): readonly LegendEntry[] {
  const groups = workspace.isGrouped.value ? workspace.groupStyles.value : null;
  const isLone = workspace.styles.value.size === 1 && groups === null;
  return useMemo(
    () => legendEntries({ lines, keys, spec, isLone, groups }),
    [lines, keys, spec, isLone, groups],
  );
}

export function emptyText(workspace: Workspace, isDifference: boolean): string {
  const { runs, groups } = workspace.drawn.value;
  if (runs.length === 0) return "No run is shown";
  const { baseline } = workspace.view.value.runs;
  if (isDifference && ![...runs, ...(groups ?? [])].some(({ id }) => id === baseline)) {
    return "The baseline is not drawn: show it, or press B on another row";
  }
  return "None of the drawn runs has this";
}

const SNAP = 20;
const LEAST_HEIGHT = 120;

/** The corner: drags the panel larger; arrow keys do the same. */
function ResizeHandle({ columns, height, onResize, spec }: PanelProps): JSX.Element {
  const start = useRef<{ x: number; y: number; width: number; columns: number; height: number } | null>(null);
  const sized = (event: PointerEvent, isDone: boolean): void => {
    const from = start.current;
    if (from === null) return;
    const wide = Math.round(((from.width + event.clientX - from.x) / from.width) * from.columns);
    const high = Math.round((from.height + event.clientY - from.y) / SNAP) * SNAP;
    onResize(Math.max(1, wide), Math.max(LEAST_HEIGHT, high), isDone);
  };
  return (
    <button
      type="button"
      class="panel-size"
      aria-label={`Resize ${spec.title}: drag it, or use the arrow keys`}
      title="Drag to resize"
      onPointerDown={(event) => {
        const box = event.currentTarget.parentElement?.getBoundingClientRect();
        start.current = { x: event.clientX, y: event.clientY, width: box?.width ?? 1, columns, height };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => sized(event, false)}
      onPointerUp={(event) => {
        sized(event, true);
        start.current = null;
      }}
      onKeyDown={(event) => {
        const by: Record<string, [number, number]> = {
          ArrowRight: [1, 0],
          ArrowLeft: [-1, 0],
          ArrowDown: [0, SNAP],
          ArrowUp: [0, -SNAP],
        };
        const step = by[event.key];
        if (step === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        onResize(Math.max(1, columns + step[0]), Math.max(LEAST_HEIGHT, height + step[1]), true);
      }}
    />
  );
}
