// A whole panel on any surface: background, title, axes, lines, legend. What a PNG and an SVG are made of; the screen
// has uPlot's axes but the same lines, ticks and colours.

import type { Line } from "../series/curve";
import { axisName, axisTicks, X_SPACE, Y_SPACE } from "./axis";
import { xExtent, yExtent } from "./extent";
import { legendLabel, legendLines } from "./legend";
import { paintLines } from "./paint";
import type { PlotSpec } from "./plot";
import { type Bend, bendFor, type PixelScale, pixelScale, type Range } from "./scale";
import { sidesOf } from "./sides";
import type { Box, Surface } from "./surface";
import { type ChartTheme, PLAIN } from "./theme";

export interface FigureSpec extends PlotSpec {
  readonly title: string;
  /** The name of the y axis; none if left out. */
  readonly yName?: string;
  /** The name of the y axis on the right. */
  readonly rightName?: string;
}

export interface FigureStyle {
  readonly width: number;
  readonly height: number;
  /** Of the text, in pixels; the title is a little larger. */
  readonly fontSize: number;
  /** Times the lines' own width. */
  readonly lineScale: number;
  readonly hasLegend: boolean;
  readonly isTransparent: boolean;
  /** Pixels of the surface for each pixel of the sizes above. */
  readonly ratio: number;
  readonly theme: ChartTheme;
}

export const FIGURE_STYLE: FigureStyle = {
  width: 720,
  height: 420,
  fontSize: 12,
  lineScale: 1,
  hasLegend: true,
  isTransparent: false,
  ratio: 1,
  theme: PLAIN,
};

export function drawFigure(surface: Surface, spec: FigureSpec, style: FigureStyle): void {
  const { theme, ratio } = style;
  const size = style.fontSize * ratio;
  const full: Box = { left: 0, top: 0, width: style.width * ratio, height: style.height * ratio };
  if (!style.isTransparent) surface.path({ fill: theme.surface }, (pen) => rectangle(pen, full));

  const xBend = bendFor(spec.xScale, spec.lines, "x");
  const { zoom } = spec;
  const xRange = zoom === null ? xExtent(spec.lines, xBend) : { min: zoom.first, max: zoom.last };
  const sides = sidesOf(spec.lines);
  const yBend = bendFor(spec.yScale, sides.left, "y");
  const yRange = yExtent(sides.left, xRange, yBend, spec.clip).range;

  const legend = style.hasLegend
    ? layLegend(surface, legendLines(spec.lines), full.width - 2 * size, size)
    : [];
  const top = spec.title === "" ? size : size * 2.6;
  const bottom = full.height - size * (1.6 * legend.length + (legend.length > 0 ? 0.8 : 0)) - size * 3.4;
  const most = Math.max(2, Math.floor((bottom - top) / (Y_SPACE * ratio)));
  const yTicks = ticksOf(surface, yBend, yRange, most, size);
  const left = yTicks.widest + size * (spec.yName === undefined ? 1.4 : 3);
  const ys = pixelScale(yBend, yRange, bottom, top);
  let rightYs = ys;
  let rightTicks: YTicks | null = null;
  if (sides.right.length > 0) {
    const bend = bendFor(spec.rightScale ?? "linear", sides.right, "y");
    const { range } = yExtent(sides.right, xRange, bend, null);
    rightYs = pixelScale(bend, range, bottom, top);
    rightTicks = ticksOf(surface, bend, range, most, size);
  }
  const right =
    rightTicks === null ? size * 1.4 : rightTicks.widest + size * (spec.rightName === undefined ? 1.4 : 3);
  const box: Box = { left, top, width: full.width - left - right, height: bottom - top };
  const xs = pixelScale(xBend, xRange, box.left, box.left + box.width);

  if (spec.title !== "") {
    surface.text(spec.title, size, size * 1.4, { colour: theme.text, size: size * 1.15, bold: true });
  }
  drawYAxis(surface, box, ys, yTicks, size, style);
  if (rightTicks !== null) drawRightAxis(surface, box, rightYs, rightTicks, size, style);
  drawXAxis(surface, box, xs, spec.xAxis, size, style);
  if (spec.yName !== undefined) {
    const at = { colour: theme.muted, size, anchor: "middle", upward: true } as const;
    surface.text(spec.yName, size, box.top + box.height / 2, at);
  }
  if (rightTicks !== null && spec.rightName !== undefined) {
    const at = { colour: theme.muted, size, anchor: "middle", upward: true } as const;
    surface.text(spec.rightName, full.width - size, box.top + box.height / 2, at);
  }
  const lines = spec.lines.map((line) => ({ ...line, width: line.width * style.lineScale }));
  paintLines(surface, { lines, xs, ys, rightYs, box, ratio, clip: spec.clip, colourOf: theme.colourOf });
  drawLegend(surface, legend, full.height - size * 1.6 * legend.length, size, style);
}

interface YTicks {
  readonly places: readonly number[];
  readonly labels: readonly string[];
  readonly widest: number;
}

function ticksOf(surface: Surface, bend: Bend, range: Range, most: number, size: number): YTicks {
  const ticks = axisTicks("value", bend);
  const places = ticks.places(range, most);
  const labels = ticks.labels(places);
  return {
    places,
    labels,
    widest: labels.reduce((widest, label) => Math.max(widest, surface.widthOf(label, size)), 0),
  };
}

/** Without a grid of its own: lines of two would lie between each other. */
function drawRightAxis(
  surface: Surface,
  box: Box,
  ys: PixelScale,
  { places, labels }: YTicks,
  size: number,
  { theme, ratio }: FigureStyle,
): void {
  const right = box.left + box.width;
  surface.path({ stroke: theme.axis, width: ratio }, (pen) => {
    for (const place of places) {
      const y = crisp(ys.at(place), ratio);
      pen.moveTo(right, y);
      pen.lineTo(right + size * 0.35, y);
    }
  });
  places.forEach((place, i) => {
    surface.text(labels[i] as string, right + size * 0.55, ys.at(place), { colour: theme.muted, size });
  });
}

function drawYAxis(
  surface: Surface,
  box: Box,
  ys: PixelScale,
  { places, labels }: YTicks,
  size: number,
  { theme, ratio }: FigureStyle,
): void {
  surface.path({ stroke: theme.grid, width: ratio }, (pen) => {
    for (const place of places) {
      const y = crisp(ys.at(place), ratio);
      pen.moveTo(box.left, y);
      pen.lineTo(box.left + box.width, y);
    }
  });
  places.forEach((place, i) => {
    const style = { colour: theme.muted, size, anchor: "end" } as const;
    surface.text(labels[i] as string, box.left - size * 0.5, ys.at(place), style);
  });
}

function drawXAxis(
  surface: Surface,
  box: Box,
  xs: PixelScale,
  axis: string,
  size: number,
  { theme, ratio }: FigureStyle,
): void {
  const ticks = axisTicks(axis, xs.bend);
  const places = ticks.places(xs, Math.max(2, Math.floor(box.width / (X_SPACE * ratio))));
  const bottom = box.top + box.height;
  surface.path({ stroke: theme.axis, width: ratio }, (pen) => {
    pen.moveTo(box.left, crisp(bottom, ratio));
    pen.lineTo(box.left + box.width, crisp(bottom, ratio));
    for (const place of places) {
      const x = crisp(xs.at(place), ratio);
      pen.moveTo(x, bottom);
      pen.lineTo(x, bottom + size * 0.35);
    }
  });
  ticks.labels(places).forEach((label, i) => {
    const style = { colour: theme.muted, size, anchor: "middle", baseline: "top" } as const;
    surface.text(label, xs.at(places[i] as number), bottom + size * 0.55, style);
  });
  const style = { colour: theme.muted, size, anchor: "middle", baseline: "top" } as const;
  surface.text(axisName(axis), box.left + box.width / 2, bottom + size * 1.9, style);
}

interface Entry {
  readonly line: Line;
  readonly label: string;
  readonly left: number;
}

const SWATCH = 1.8;

/** Return the legend's rows: as many entries in each as fit. */
function layLegend(surface: Surface, lines: readonly Line[], width: number, size: number): Entry[][] {
  const rows: Entry[][] = [];
  let left = Infinity;
  for (const line of lines) {
    const label = legendLabel(line);
    const needs = surface.widthOf(label, size) + size * (SWATCH + 1.6);
    if (left + needs > width && left > 0) {
      rows.push([]);
      left = 0;
    }
    rows[rows.length - 1]?.push({ line, label, left });
    left += needs;
  }
  return rows;
}

function drawLegend(
  surface: Surface,
  rows: readonly Entry[][],
  top: number,
  size: number,
  { theme, ratio, lineScale }: FigureStyle,
): void {
  rows.forEach((row, i) => {
    const y = top + size * 1.6 * i;
    for (const { line, label, left } of row) {
      const x = size + left;
      const width = Math.max(1.5, line.width * lineScale) * ratio;
      const dash = line.dash.map((length) => length * ratio);
      surface.path({ stroke: theme.colourOf(line.colour), width, dash }, (pen) => {
        pen.moveTo(x, y);
        pen.lineTo(x + size * SWATCH, y);
      });
      surface.text(label, x + size * (SWATCH + 0.5), y, { colour: theme.text, size });
    }
  });
}

function rectangle(
  pen: { moveTo(x: number, y: number): void; lineTo(x: number, y: number): void },
  box: Box,
): void {
  pen.moveTo(box.left, box.top);
  pen.lineTo(box.left + box.width, box.top);
  pen.lineTo(box.left + box.width, box.top + box.height);
  pen.lineTo(box.left, box.top + box.height);
  pen.lineTo(box.left, box.top);
}

/** Return the middle of a pixel, where a line of one pixel is sharp. */
function crisp(place: number, ratio: number): number {
  return Math.round(place) + (ratio % 2 === 1 ? 0.5 : 0);
}
