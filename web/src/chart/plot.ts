// One chart on the screen, without any framework: uPlot gives the canvas, the axes and the layout; the lines are
// painted by us, because runs have points at different x, which one shared x column would blow up n-fold.
// Data may change at any time: the view stays where it is and nothing is made anew.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Line } from "../series/curve";
import type { Scale, Zoom } from "../view/state";
import { type AxisTicks, axisTicks, X_SPACE, Y_SPACE } from "./axis";
import { type Clip, type Hidden, xExtent, yExtent } from "./extent";
import { paintLines, type Scene } from "./paint";
import { type Bend, bendFor, bendOf, type PixelScale, pixelScale, type Range } from "./scale";
import { type SideScales, sidesOf } from "./sides";
import { type Box, CanvasSurface, type Surface } from "./surface";
import type { ChartTheme } from "./theme";

export interface PlotSpec {
  readonly lines: readonly Line[];
  /** "step", "relative", "wall", or a logged key. */
  readonly xAxis: string;
  readonly xScale: Scale;
  readonly yScale: Scale;
  /** Of the y axis on the right, if a line is measured by it. */
  readonly rightScale?: Scale;
  /** The left y axis ends here; what lies outside is marked at the edge. */
  readonly clip: Clip | null;
  readonly zoom: Zoom | null;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const FONT_SIZE = 11;
const NO_HIDDEN: Hidden = { notPositive: 0, above: 0, below: 0 };

export class Plot {
  hidden: Hidden = NO_HIDDEN;
  /** Called after each drawing, when the layout may have changed. */
  onDraw: () => void = () => {};
  private u!: uPlot;
  private spec: PlotSpec;
  private theme: ChartTheme;
  private x: Range = { min: 0, max: 1 };
  private y: Range = { min: 0, max: 1 };
  /** Null if no line is measured by it. */
  private right: { readonly bend: Bend; readonly range: Range } | null = null;
  private isEmpty = true;
  private isLeftEmpty = true;
  private bentFor: PlotSpec | null = null;
  private xBend: Bend = bendOf("linear");
  private yBend: Bend = bendOf("linear");

  constructor(
    private readonly host: HTMLElement,
    private size: Size,
    spec: PlotSpec,
    theme: ChartTheme,
  ) {
    this.spec = spec;
    this.theme = theme;
    this.measure();
    this.create();
  }

  /** The plotting area within the chart, in CSS pixels. */
  area(): Box {
    const { left, top, width, height } = this.u.bbox;
    const ratio = uPlot.pxRatio;
    return { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio };
  }

  /** The range of x in view. */
  get range(): Range {
    return this.x;
  }

  get isZoomed(): boolean {
    return this.spec.zoom !== null;
  }

  get lines(): readonly Line[] {
    return this.spec.lines;
  }

  /** Take another spec: only a change of axes needs another uPlot. */
  update(spec: PlotSpec): void {
    const { spec: before, xBend, yBend, right } = this;
    this.spec = spec;
    this.measure();
    const isSame =
      before.xAxis === spec.xAxis &&
      isBent(xBend, this.xBend) &&
      isBent(yBend, this.yBend) &&
      (right === null ? this.right === null : this.right !== null && isBent(right.bend, this.right.bend));
    if (isSame) this.refresh();
    else {
      this.u.destroy();
      this.create();
    }
  }

  /** Show a range of x at once, before whoever owns the zoom has answered; null shows all. */
  view(zoom: Zoom | null): void {
    this.update({ ...this.spec, zoom });
  }

  resize(size: Size): void {
    if (size.width === this.size.width && size.height === this.size.height) return;
    this.size = size;
    this.u.setSize(size);
  }

  restyle(theme: ChartTheme): void {
    this.theme = theme;
    this.u.redraw(false, true);
  }

  destroy(): void {
    this.u.destroy();
  }

  /** Scales in CSS pixels from the plotting area's corner, as the pointer has them. */
  scales(): { xs: PixelScale } & SideScales {
    const { width, height } = this.u.bbox;
    const ratio = uPlot.pxRatio;
    return {
      xs: pixelScale(this.xBend, this.x, 0, width / ratio),
      ...this.sideScales(height / ratio, 0),
    };
  }

  private sideScales(bottom: number, top: number): SideScales {
    const ys = pixelScale(this.yBend, this.y, bottom, top);
    const { right } = this;
    return { ys, rightYs: right === null ? ys : pixelScale(right.bend, right.range, bottom, top) };
  }

  /** What the canvas shows, in its own pixels moved by the corner of `box`. */
  scene(left: number, top: number): Scene {
    const { width, height } = this.u.bbox;
    return {
      lines: this.spec.lines,
      xs: pixelScale(this.xBend, this.x, left, left + width),
      ...this.sideScales(top + height, top),
      box: { left, top, width, height },
      ratio: uPlot.pxRatio,
      clip: this.spec.clip,
      colourOf: this.theme.colourOf,
    };
  }

  /** Whether something must be said about values that no line shows: room is left for it above the plot. */
  private hasNotes(): boolean {
    const { above, below, notPositive } = this.hidden;
    return above + below + notPositive > 0 || this.spec.lines.some((line) => line.marks.length > 0);
  }

  /** Return ticks for a length of canvas pixels; an empty chart has no values that could be read off. */
  private places(ticks: AxisTicks, range: Range, length: number, space: number): number[] {
    if (this.isEmpty) return [];
    return ticks.places(range, Math.max(2, Math.floor(length / uPlot.pxRatio / space)));
  }

  private measure(): void {
    const { lines, zoom, xScale, yScale, rightScale = "linear", clip } = this.spec;
    const { left, right } = sidesOf(lines);
    if (lines !== this.bentFor?.lines || xScale !== this.bentFor.xScale || yScale !== this.bentFor.yScale) {
      this.xBend = bendFor(xScale, lines, "x");
      this.yBend = bendFor(yScale, left, "y");
      this.bentFor = this.spec;
    }
    this.x = zoom === null ? xExtent(lines, this.xBend) : { min: zoom.first, max: zoom.last };
    const { range, hidden } = yExtent(left, this.x, this.yBend, clip);
    this.y = range;
    this.hidden = hidden;
    this.right = null;
    if (right.length > 0) {
      const bend = bendFor(rightScale, right, "y");
      const side = yExtent(right, this.x, bend, null);
      this.right = { bend, range: side.range };
      this.hidden = { ...hidden, notPositive: hidden.notPositive + side.hidden.notPositive };
    }
    this.isLeftEmpty = left.every((line) => line.x.length === 0);
    this.isEmpty = this.isLeftEmpty && right.every((line) => line.x.length === 0);
  }

  private paintEmpty(surface: Surface): void {
    const { left, top, width, height } = this.u.bbox;
    const style = { colour: this.theme.muted, size: 12 * uPlot.pxRatio, anchor: "middle" } as const;
    surface.text("No data", left + width / 2, top + height / 2, style);
  }

  private refresh(): void {
    // either way the axes are worked out anew
    if (isMoved(this.u.scales.x, this.x)) this.u.setScale("x", { ...this.x });
    else this.u.redraw(false, true);
  }

  /** The labels of the x axis; one that would be cut off at the right end is left out, its tick stays. */
  private fitting(u: uPlot, labels: readonly string[], places: readonly number[], font: string): string[] {
    const { left, width } = u.bbox;
    const ratio = uPlot.pxRatio;
    const xs = pixelScale(this.xBend, this.x, left / ratio, (left + width) / ratio);
    u.ctx.font = font;
    return labels.map((label, i) => {
      const end = xs.at(places[i] as number) + u.ctx.measureText(label).width / 2;
      return end <= this.size.width ? label : "";
    });
  }

  /**
   * The ticks of a y axis. To uPlot it goes from 0 to 1, whatever it measures: uPlot has no ticks for numbers of more
   * than 17 digits, and a loss that diverges has them.
   */
  private sideTicks(
    bend: Bend,
    rangeOf: () => Range | null,
  ): Required<Pick<uPlot.Axis, "splits" | "values">> {
    const ticks = axisTicks("value", bend);
    let places: number[] = [];
    return {
      splits: (u) => {
        const range = rangeOf();
        places = range === null ? [] : this.places(ticks, range, u.bbox.height, Y_SPACE);
        return range === null ? [] : places.map(pixelScale(bend, range, 0, 1).at);
      },
      values: () => ticks.labels(places),
    };
  }

  private create(): void {
    const font = `${FONT_SIZE}px ${this.theme.font}`;
    const axis = (space: number): Partial<uPlot.Axis> => ({
      font,
      stroke: () => this.theme.muted,
      grid: { stroke: () => this.theme.grid, width: 1 },
      ticks: { stroke: () => this.theme.axis, width: 1, size: 4 },
      // uPlot leaves out ticks of bent axes that it finds too many: ours are few already
      filter: (_u, places) => places,
      gap: 4,
      space,
    });
    const xTicks = axisTicks(this.spec.xAxis, this.xBend);
    const yTicks = this.sideTicks(this.yBend, () => (this.isLeftEmpty ? null : this.y));
    const { right } = this;
    const rightTicks = this.sideTicks(right?.bend ?? this.yBend, () => this.right?.range ?? null);
    new uPlot(
      {
        ...this.size,
        padding: [() => (this.hasNotes() ? 26 : 8), right === null ? 12 : 2, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        scales: {
          x: { time: false, ...distribution(this.xBend), range: () => [this.x.min, this.x.max] },
          y: { range: () => [0, 1] },
          ...(right && { right: { range: (): [number, number] => [0, 1] } }),
        },
        axes: [
          {
            ...axis(X_SPACE),
            size: 26,
            splits: (u, _i, min, max) => this.places(xTicks, { min, max }, u.bbox.width, X_SPACE),
            values: (u, places) => this.fitting(u, xTicks.labels(places), places, font),
          },
          {
            ...axis(Y_SPACE),
            ...yTicks,
            size: (u, labels) => axisWidth(u, labels, font),
          },
          ...(right === null
            ? []
            : [
                {
                  ...axis(Y_SPACE),
                  ...rightTicks,
                  scale: "right",
                  side: 1 as const,
                  // one grid is enough: lines of two would lie between each other
                  grid: { show: this.isLeftEmpty, stroke: () => this.theme.grid, width: 1 },
                  size: (u: uPlot, labels: readonly string[] | null) => axisWidth(u, labels, font),
                },
              ]),
        ],
        series: [{}, nothingOn("y"), ...(right === null ? [] : [nothingOn("right")])],
        hooks: {
          draw: [
            (u) => {
              const surface = new CanvasSurface(u.ctx, this.theme.font);
              paintLines(surface, this.scene(u.bbox.left, u.bbox.top));
              if (this.isEmpty) this.paintEmpty(surface);
              this.onDraw();
            },
          ],
        },
      },
      // uPlot's own series is empty: the ranges are ours
      [[this.x.min, this.x.max], [null, null], ...(right === null ? [] : [[null, null]])],
      // drawn at once, not in a microtask, so that whoever spreads work over frames sees what it costs
      (u, draw) => {
        this.u = u;
        this.host.prepend(u.root);
        u.batch(draw);
      },
    );
  }
}

/** A series of uPlot that draws nothing: it keeps a scale in use. */
function nothingOn(scale: string): uPlot.Series {
  return { scale, paths: () => null, points: { show: false } };
}

function isMoved(scale: uPlot.Scale | undefined, { min, max }: Range): boolean {
  return scale?.min !== min || scale?.max !== max;
}

function distribution(bend: Bend): Partial<uPlot.Scale> {
  if (bend.kind === "linear") return { distr: 1 };
  return { distr: 100, fwd: bend.to, bwd: bend.from };
}

function isBent(one: Bend, other: Bend): boolean {
  return one.kind === other.kind && one.threshold === other.threshold;
}

/** Return the width that the labels of the y axis need. */
function axisWidth(u: uPlot, labels: readonly string[] | null, font: string): number {
  if (labels === null) return 40;
  u.ctx.font = font;
  let widest = 0;
  for (const label of labels) widest = Math.max(widest, u.ctx.measureText(label).width);
  // two pixel sizes would make the layout jump with each label: steps of 4
  return Math.max(32, 4 * Math.ceil((widest + 12) / 4));
}
