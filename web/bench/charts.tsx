// What benchmarks/dashboard.py measures: our charts and bare uPlot, on the same arrays, in the same browser.

import { render } from "preact";
import uPlot from "uplot";
import "../src/style/tokens.css";
import "../src/style/base.css";
import { Chart } from "../src/chart/chart";
import { readings } from "../src/chart/crosshair";
import { OnScreen } from "../src/chart/mount";
import type { Line } from "../src/series/curve";
import { lineOf, loss, steps, untilShown } from "./data";

const WIDTH = 380;
const HEIGHT = 220;
const MARGIN = 400;
const app = document.getElementById("app") as HTMLElement;

type Panels = Line[][];
let panels: Panels = [];
let bare: uPlot[] = [];

/** Two frames: what was drawn in the first has been handed to the screen when the second begins. */
function drawn(): Promise<number> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
  });
}

function prepare(numPanels: number, runs: number, points: number): void {
  const x = steps(points);
  panels = Array.from({ length: numPanels }, (_, panel) =>
    Array.from({ length: runs }, (_, run) => lineOf(`run-${run}`, x, loss(points, 1000 * panel + run), run)),
  );
}

function clear(): void {
  for (const plot of bare) plot.destroy();
  bare = [];
  render(null, app);
  app.replaceChildren();
  app.style.cssText = `display:grid;grid-template-columns:repeat(auto-fill,${WIDTH}px)`;
}

/** Draw our charts; those off the screen never come, so that waiting for all needs a window that holds them. */
async function ours(isWaitingForAll = true): Promise<number> {
  clear();
  const started = performance.now();
  render(
    panels.map((lines, i) => (
      <OnScreen height={HEIGHT} key={String(i)}>
        {() => <Chart lines={lines} title={`metric ${i}`} height={HEIGHT} />}
      </OnScreen>
    )),
    app,
  );
  while (isWaitingForAll && app.querySelectorAll("canvas").length < panels.length) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return (await drawn()) - started;
}

function bareOptions(lines: Line[], width: number, height: number, stroke?: number): uPlot.Options {
  return {
    width,
    height,
    legend: { show: false },
    scales: { x: { time: false } },
    cursor: { sync: { key: "all" }, focus: { prox: 14 } },
    series: [
      {},
      ...lines.map((line) => ({ stroke: line.colour, width: stroke ?? line.width, points: { show: false } })),
    ],
  };
}

function bareData(lines: Line[]): uPlot.AlignedData {
  return [(lines[0] as Line).x, ...lines.map((line) => line.y)];
}

/** Draw bare uPlot charts with lines as thick as ours, or of another width. */
async function bareDrawn(stroke?: number): Promise<number> {
  clear();
  const started = performance.now();
  for (const lines of panels) {
    const holder = document.createElement("div");
    app.append(holder);
    bare.push(new uPlot(bareOptions(lines, WIDTH, HEIGHT, stroke), bareData(lines), holder));
  }
  return (await drawn()) - started;
}

function areaOf(panel: number, isOurs: boolean): HTMLElement {
  return app.querySelectorAll(isOurs ? ".chart-area" : ".u-over")[panel] as HTMLElement;
}

function moveTo(area: HTMLElement, isOurs: boolean, x: number, y: number): void {
  const box = area.getBoundingClientRect();
  const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
  // uPlot listens to the mouse, we to the pointer
  area.dispatchEvent(isOurs ? new PointerEvent("pointermove", at) : new MouseEvent("mousemove", at));
}

/** Return how long each move of the mouse over a panel takes until the frame with all crosshairs is handed over. */
async function hover(moves: number, isOurs: boolean): Promise<number[]> {
  const area = areaOf(1, isOurs);
  if (!isOurs) area.dispatchEvent(new MouseEvent("mouseenter"));
  const took: number[] = [];
  for (let i = 0; i < moves; i++) {
    took.push(await untilShown(() => moveTo(area, isOurs, 20 + ((i * 7) % 280), 40 + ((i * 5) % 120))));
  }
  return took;
}

/** Return how long each zoom into a panel of many points takes until it is drawn. */
async function zoomOurs(zooms: number): Promise<number[]> {
  clear();
  const lines = panels[0] as Line[];
  const all = (lines[0] as Line).x.length;
  const took: number[] = [];
  const show = (first: number, last: number): void =>
    render(<Chart lines={lines} title="many points" height={500} zoom={{ first, last }} />, app);
  app.style.cssText = "width:1200px";
  show(0, all);
  while (app.querySelector("canvas") === null) await new Promise((resolve) => requestAnimationFrame(resolve));
  await drawn();
  for (let i = 0; i < zooms; i++) {
    const started = performance.now();
    show(all * 0.01 * (i % 5), all * (1 - 0.01 * (i % 7)));
    took.push((await drawn()) - started);
  }
  return took;
}

async function zoomBare(zooms: number): Promise<number[]> {
  clear();
  app.style.cssText = "width:1200px";
  const lines = panels[0] as Line[];
  const all = (lines[0] as Line).x.length;
  const plot = new uPlot(bareOptions(lines, 1200, 500), bareData(lines), app);
  bare.push(plot);
  await drawn();
  const took: number[] = [];
  for (let i = 0; i < zooms; i++) {
    const started = performance.now();
    plot.setScale("x", { min: all * 0.01 * (i % 5), max: all * (1 - 0.01 * (i % 7)) });
    took.push((await drawn()) - started);
  }
  return took;
}

/** Return the longest time that the page could not answer while our charts were drawn. */
async function longestBlock(): Promise<number> {
  let longest = 0;
  const watcher = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longest = Math.max(longest, entry.duration);
  });
  watcher.observe({ type: "longtask" });
  await ours();
  await new Promise((resolve) => setTimeout(resolve, 200));
  watcher.disconnect();
  return longest;
}

const bench = {
  prepare,
  longestBlock,
  clear,
  ours,
  bare: bareDrawn,
  hover,
  zoomOurs,
  zoomBare,
  panels: () => panels.length,
  /** Canvases further from the window than the margin in which panels are kept. */
  farCanvases: () =>
    [...app.querySelectorAll("canvas")].filter((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return bottom < -MARGIN || top > innerHeight + MARGIN;
    }).length,
  readings: () => readings.value?.values.size ?? 0,
  /** How many crosshairs are seen. */
  crosshairs: () =>
    [...app.querySelectorAll<HTMLElement>(".chart-cross")].filter((one) => !one.hidden).length,
};

declare global {
  interface Window {
    bench: typeof bench;
  }
}
window.bench = bench;
