// Every kind of chart with data that is hard to draw, to be looked at.

import { signal } from "@preact/signals";
import { render } from "preact";
import "../src/style/tokens.css";
import "../src/style/base.css";
import "./gallery.css";
import { Chart, type ChartProps } from "../src/chart/chart";
import { OnScreen } from "../src/chart/mount";
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
const app = document.getElementById("app") as HTMLElement;
render(
  <div class="gallery">
    {charts.map((props) => (
      <section key={props.title}>
        <h3>{props.title}</h3>
        <OnScreen height={220}>
          {() => (
            <Chart
              {...props}
              onZoom={(zoom) => {
                zoomed.value = zoom === null ? "all" : `${zoom.first} to ${zoom.last}`;
              }}
            />
          )}
        </OnScreen>
      </section>
    ))}
    <output id="zoomed">{zoomed}</output>
  </div>,
  app,
);
