// <Chart>: the lines of one panel on a canvas. Data may be replaced at any time; zoom, crosshair and focus stay.

import { useSignal } from "@preact/signals";
import { useCallback, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Line } from "../series/curve";
import type { Scale, Zoom } from "../view/state";
import "./chart.css";
import { ChartController, type ChartEvents, type ChartInput } from "./controller";
import type { Clip } from "./extent";
import { inSomeFrame } from "./frames";
import { watchSize } from "./mount";
import type { Plot } from "./plot";
import { type Note, notesOf, summaryOf } from "./summary";

export interface ChartProps {
  readonly lines: readonly Line[];
  /** For screen readers, for whoever shows the readings, and for exports; not drawn. */
  readonly title: string;
  /** "step", "relative", "wall", or the name of a logged key. */
  readonly xAxis?: string;
  readonly xScale?: Scale;
  readonly yScale?: Scale;
  /** Of the y axis on the right, which is there if a line is measured by it. */
  readonly rightScale?: Scale;
  /** The range of x in view, null for all; left out, the chart keeps its own. */
  readonly zoom?: Zoom | null;
  /** A range was chosen: finer data may be fetched for it. */
  readonly onZoom?: (zoom: Zoom | null) => void;
  /** Where the y axis is cut, see series/outlier.ts. */
  readonly clip?: Clip | null;
  /** CSS pixels. */
  readonly height?: number;
  /** The run or group that a line id belongs to, if it is not the id itself. */
  readonly runOf?: (lineId: string) => string;
  /** Double click or Enter on a chart that is not zoomed. */
  readonly onOpen?: () => void;
}

/** The keys of a focused chart, for the sheet of keys. */
export const CHART_KEYS: readonly { readonly keys: string; readonly title: string }[] = [
  { keys: "← →", title: "Move the crosshair (with Shift by ten points)" },
  { keys: "Home End", title: "Crosshair to the first or last point" },
  { keys: "↑ ↓", title: "Next or previous line" },
  { keys: "+ -", title: "Zoom in or out" },
  { keys: "0", title: "Show everything" },
  { keys: "Space", title: "Lock the crosshair" },
  { keys: "Enter", title: "Full screen" },
];

const itself = (id: string): string => id;

export function Chart(props: ChartProps) {
  const {
    lines,
    title,
    xAxis = "step",
    xScale = "linear",
    yScale = "linear",
    rightScale = "linear",
    clip = null,
    height = 220,
  } = props;
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const controller = useRef<ChartController | null>(null);
  const [ownZoom, setOwnZoom] = useState<Zoom | null>(null);
  const notes = useSignal<readonly Note[]>([]);
  const said = useSignal("");
  const zoom = props.zoom === undefined ? ownZoom : props.zoom;
  const input: ChartInput = {
    id,
    title,
    lines,
    xAxis,
    xScale,
    yScale,
    rightScale,
    clip,
    zoom,
    runOf: props.runOf ?? itself,
  };

  // what the controller calls and is given when it comes to exist, always the newest
  const latest = useRef({ props, input, height });
  latest.current = { props, input, height };

  const note = useCallback(
    (plot: Plot) => {
      const now = notesOf(plot.lines, plot.hidden);
      if (JSON.stringify(now) !== JSON.stringify(notes.peek())) notes.value = now;
    },
    [notes],
  );

  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return;
    const events: ChartEvents = {
      zoomed: (to) => {
        setOwnZoom(to);
        latest.current.props.onZoom?.(to);
      },
      opened: () => latest.current.props.onOpen?.(),
      drawn: note,
      said: (text) => {
        said.value = text;
      },
    };
    let width = 0;
    let giveUp = (): void => {};
    const create = (): void => {
      const size = { width, height: latest.current.height };
      controller.current = new ChartController(element, size, latest.current.input, events);
    };
    const unwatch = watchSize(element, ({ contentRect }) => {
      const isFirst = width === 0;
      width = Math.floor(contentRect.width);
      if (width === 0) return;
      if (controller.current !== null) controller.current.resize({ width, height: latest.current.height });
      else if (isFirst) giveUp = inSomeFrame(create);
    });
    return () => {
      unwatch();
      giveUp();
      controller.current?.destroy();
      controller.current = null;
    };
  }, [note, said]);

  useLayoutEffect(() => {
    controller.current?.update(latest.current.input);
  }, [lines, title, xAxis, xScale, yScale, rightScale, clip, zoom?.first, zoom?.last, props.runOf]);

  useLayoutEffect(() => {
    const element = host.current;
    if (element !== null) controller.current?.resize({ width: Math.floor(element.clientWidth), height });
  }, [height]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (controller.current?.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const summary = useMemo(() => summaryOf(title, xAxis, lines), [title, xAxis, lines]);
  return (
    <div class="chart" style={{ height: `${height}px` }}>
      <div
        ref={host}
        class="chart-host"
        role="application"
        aria-roledescription="line chart"
        aria-label={summary}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move its crosshair
        tabIndex={0}
        onKeyDown={onKeyDown}
      />
      {notes.value.length > 0 && (
        <ul class="chart-notes" aria-label="Values that no line shows">
          {notes.value.map((one) => (
            <li key={one.text} title={one.title}>
              {one.text}
            </li>
          ))}
        </ul>
      )}
      <span class="unseen" role="status">
        {said}
      </span>
    </div>
  );
}
