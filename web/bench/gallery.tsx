// Every kind of chart with data that is hard to draw, to be looked at.

import { signal } from "@preact/signals";
import { render } from "preact";
import "../src/style/tokens.css";
import "../src/style/base.css";
import "./gallery.css";
import { Chart, type ChartProps } from "../src/chart/chart";
import { highlighted, readings } from "../src/chart/crosshair";
import { exportPanel } from "../src/chart/export/save";
import { OnScreen } from "../src/chart/mount";
import type { Range } from "../src/chart/scale";
import { Sparkline } from "../src/chart/sparkline";
import { Bars } from "../src/chart/svg/bar";
import { Histogram, histogramOf } from "../src/chart/svg/histogram";
import { type Brushes, Parallel } from "../src/chart/svg/parallel";
import { Scatter } from "../src/chart/svg/scatter";
import { chartTheme } from "../src/chart/theme";
import type { Line } from "../src/series/curve";
import { lineOf, loss, steps } from "./data";

const x = steps(400);
const ten: Line[] = Array.from({ length: 10 }, (_, i) => lineOf(`run-${i}`, x, loss(400, i), i));

function banded(id: string, index: number): Line {
  const y = loss(400, index);
  const low = y.map((value) => value - 0.15);
  const high = y.map((value, i) => value + 0.15 + (i === 200 ? 1 : 0));
  return lineOf(id, x, y, index, { low, high, dash: index % 2 === 1 ? [6, 4] : [] });
}

const smooth = loss(400, 3).map((_, i, all) => {
  const near = all.subarray(Math.max(0, i - 15), i + 16);
  return near.reduce((sum, value) => sum + value, 0) / near.length;
});
const gaps = loss(400, 4).map((value, i) =>
  (i > 120 && i < 160) || i === 300 || i === 302 ? Number.NaN : value,
);
const wild = loss(400, 5).map((value, i) => (i % 61 === 7 ? value * 40 : i % 83 === 9 ? -30 : value));
const signed = loss(400, 6).map((value, i) => (value - 0.8) * (i % 50 === 0 ? 1000 : 1));
const wall = x.map((step) => 1_790_000_000 + step * 600);
const duration = x.map((step) => step * 45);
const random = loss(400, 8);

const charts: readonly ChartProps[] = [
  { title: "ten runs", lines: ten },
  { title: "envelopes, dashes", lines: [banded("a", 0), banded("b", 1)] },
  {
    title: "smoothed with the raw line",
    lines: [lineOf("raw", x, loss(400, 3), 0, { faint: true }), lineOf("smooth", x, smooth, 0)],
  },
  {
    title: "gaps and marks",
    lines: [
      lineOf("gaps", x, gaps, 4, {
        marks: [
          { x: 140, kind: "nan", count: 39 },
          { x: 301, kind: "nan", count: 1 },
          { x: 250, kind: "posinf", count: 2 },
          { x: 350, kind: "neginf", count: 1 },
        ],
      }),
    ],
  },
  { title: "clipped", lines: [lineOf("wild", x, wild, 5)], clip: { low: 0.1, high: 1.8 } },
  { title: "log", lines: ten.slice(0, 3), yScale: "log", xScale: "log" },
  { title: "log with values of 0 or less", lines: [lineOf("signed", x, signed, 6)], yScale: "log" },
  { title: "symlog", lines: [lineOf("signed", x, signed, 6)], yScale: "symlog" },
  { title: "wall time", lines: [lineOf("a", wall, loss(400, 7), 1)], xAxis: "wall" },
  { title: "relative time", lines: [lineOf("a", duration, loss(400, 7), 2)], xAxis: "relative" },
  { title: "another key", lines: [lineOf("a", random, loss(400, 9), 3)], xAxis: "train/accuracy" },
  { title: "one point", lines: [lineOf("a", Float64Array.of(3), Float64Array.of(0.5), 0)] },
  {
    title: "few points",
    lines: [lineOf("a", steps(6), loss(6, 2), 1), lineOf("b", steps(6), loss(6, 3), 2)],
  },
  { title: "constant", lines: [lineOf("a", x, new Float64Array(400).fill(1e-7), 0)] },
  { title: "no data", lines: [] },
  {
    title: "large numbers",
    lines: [
      lineOf(
        "a",
        x.map((s) => s * 1e6),
        loss(400, 2).map((v) => v * 1e9),
        0,
      ),
    ],
  },
];

const zoomed = signal("");
const growing = signal<readonly Line[]>(ten);
const brushed = signal<ReadonlySet<string> | null>(null);
const brushes = signal<Brushes>({});
const columns = signal<Range | null>(null);
const pictures = signal<readonly string[]>([]);

/** Add points to the first chart, as a live run does. */
function append(): void {
  const more = steps((growing.value[0]?.x.length ?? 0) + 100);
  growing.value = ten.map((line, i) => ({ ...line, x: more, y: loss(more.length, i) }));
}

async function makePictures(): Promise<void> {
  const theme = chartTheme().value;
  const style = { theme, width: 560, height: 340 };
  const rest = { xAxis: "step", xScale: "linear", yScale: "linear", clip: null, zoom: null } as const;
  const spec = {
    ...rest,
    title: "exported: train/loss",
    yName: "loss",
    lines: [...ten.slice(2, 6), banded("group", 1)],
  };
  const files = [await exportPanel("svg", spec, style), await exportPanel("png", spec, style)];
  pictures.value = files.map((file) => URL.createObjectURL(file));
}

const COLOURS = ten.map((line) => line.colour);
const runs = Array.from({ length: 40 }, (_, i) => ({
  id: `r${i}`,
  label: `run-${i}`,
  colour: COLOURS[i % 10] as string,
}));
const scores = loss(40, 11);
const rates = loss(40, 12).map((value) => 10 ** (-4 * value));

function SmallCharts() {
  const hover = (id: string | null): void => {
    highlighted.value = id;
  };
  const brush = (ids: ReadonlySet<string> | null): void => {
    brushed.value = ids;
  };
  const linked = { brushed: brushed.value, highlighted: highlighted.value, onBrush: brush, onHover: hover };
  const points = runs.map((run, i) => ({ ...run, x: rates[i] as number, y: scores[i] as number }));
  const bars = runs.slice(0, 8).map((run, i) => ({
    ...run,
    label: i === 2 ? "a-very-long-name-of-a-run-that-does-not-fit-seed-42" : run.label,
    value: i === 5 ? Number.NaN : (scores[i] as number) - 0.5,
    low: (scores[i] as number) - 0.6,
    high: (scores[i] as number) - 0.4,
  }));
  const axes = [
    { name: "lr", values: [...rates], scale: "log" as const },
    { name: "optimizer", values: runs.map((_, i) => ["sgd", "adam", "lion"][i % 3] as string) },
    { name: "layers", values: runs.map((_, i) => (i % 7 === 0 ? null : 2 + (i % 4))) },
    { name: "val/loss", values: [...scores] },
  ];
  return (
    <>
      <section>
        <h3>scatter</h3>
        <Scatter points={points} xName="lr" yName="val/loss" xScale="log" {...linked} />
      </section>
      <section>
        <h3>bars</h3>
        <Bars bars={bars} name="val/loss" baseline={0.3} {...linked} />
      </section>
      <section>
        <h3>parallel coordinates</h3>
        <Parallel
          rows={runs}
          axes={axes}
          brushes={brushes.value}
          highlighted={highlighted.value}
          onHover={hover}
          onBrush={(next, ids) => {
            brushes.value = next;
            brushed.value = ids;
          }}
        />
      </section>
      <section>
        <h3>histogram</h3>
        <Histogram
          {...histogramOf(loss(4000, 2))}
          name="weights"
          brush={columns.value}
          onBrush={(range) => {
            columns.value = range;
          }}
        />
        <Sparkline y={loss(300, 3)} label="falling" /> <Sparkline y={loss(300, 4)} colour="var(--accent)" />
      </section>
      <output id="brushed">{brushed.value === null ? "none" : brushed.value.size}</output>
    </>
  );
}

function Gallery() {
  return (
    <div class="gallery">
      {charts.map((props, i) => (
        <section key={props.title}>
          <h3>{props.title}</h3>
          <OnScreen height={220}>
            {() => (
              <Chart
                {...props}
                lines={i === 0 ? growing.value : props.lines}
                onZoom={(zoom) => {
                  zoomed.value = zoom === null ? "all" : `${zoom.first} to ${zoom.last}`;
                }}
              />
            )}
          </OnScreen>
        </section>
      ))}
      <SmallCharts />
      {pictures.value.map((url) => (
        <img key={url} src={url} alt="exported panel" width={560} height={340} />
      ))}
      <p>
        <button type="button" onClick={append}>
          Append
        </button>
        <button type="button" onClick={makePictures}>
          Export
        </button>
        <output id="zoomed">{zoomed}</output> <output id="read">{readings.value?.values.size ?? 0}</output>
        <output id="highlighted">{highlighted.value}</output>
      </p>
    </div>
  );
}

render(<Gallery />, document.getElementById("app") as HTMLElement);
