// Brings one plot to life: pointer and keys move the shared crosshair and the zoom, and the shared crosshair, the
// highlighted run and the theme move the plot. Knows no framework; chart.tsx puts it into the page.

import { effect } from "@preact/signals";
import type { Line } from "../series/curve";
import { count, number } from "../series/format";
import type { Zoom } from "../view/state";
import { xText } from "./axis";
import {
  crosshair,
  highlighted,
  isLocked,
  leaveCrosshair,
  moveCrosshair,
  readingsAt,
  toggleLock,
  unlock,
} from "./crosshair";
import { inSomeFrame } from "./frames";
import { HoverLayer } from "./hover";
import { handleKey, type KeyTarget, pointBeside } from "./keyboard";
import { Plot, type PlotSpec, type Size } from "./plot";
import { followPointer, type Gestures } from "./pointer";
import { panBy, type Range, zoomAround } from "./scale";
import { scaleOf } from "./sides";
import { chartTheme } from "./theme";

export interface ChartInput extends PlotSpec {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** The run (or group) that a line id belongs to: what is highlighted everywhere. */
  readonly runOf: (lineId: string) => string;
}

export interface ChartEvents {
  /** A range was chosen, null for all. */
  zoomed(zoom: Zoom | null): void;
  /** Double click, or Enter, on a chart that is not zoomed. */
  opened(): void;
  /** What the chart could not show has changed. */
  drawn(plot: Plot): void;
  /** For screen readers. */
  said(text: string): void;
}

/** How near (in CSS pixels) the pointer must be to mean a line. */
const REACH = 14;
/** A pointer that crosses many lines does not make all charts flicker. */
const REST_MS = 40;

export class ChartController implements KeyTarget {
  readonly plot: Plot;
  private readonly layer: HoverLayer;
  private readonly endings: (() => void)[] = [];
  private full: Range;
  private lineAt = 0; // the line that the arrow keys walk along

  constructor(
    host: HTMLElement,
    size: Size,
    private input: ChartInput,
    private readonly events: ChartEvents,
  ) {
    const theme = chartTheme();
    this.plot = new Plot(host, size, input, theme.peek());
    this.full = this.plot.range;
    this.layer = new HoverLayer(host, this.plot, theme.peek());
    this.plot.onDraw = () => {
      this.layer.follow(theme.peek());
      this.events.drawn(this.plot);
    };
    // it has drawn itself once already
    this.plot.onDraw();
    this.endings.push(followPointer(this.layer.area, this.gestures()));
    let isFirst = true;
    this.endings.push(
      effect(() => {
        const now = theme.value;
        if (!isFirst) this.plot.restyle(now);
        isFirst = false;
      }),
      effect(() => this.showCross(crosshair.value)),
      this.followHighlight(),
    );
  }

  update(input: ChartInput): void {
    this.input = input;
    this.plot.update(input);
    if (input.zoom === null) this.full = this.plot.range;
    this.showCross(crosshair.peek());
    this.layer.raise(this.linesOf(highlighted.peek()));
  }

  resize(size: Size): void {
    this.plot.resize(size);
  }

  destroy(): void {
    for (const end of this.endings) end();
    if (!isLocked.peek()) leaveCrosshair(this.input.id);
    this.layer.destroy();
    this.plot.destroy();
  }

  /** Handle a key; whether it meant something here. */
  key(event: KeyboardEvent): boolean {
    return handleKey(event, this);
  }

  private gestures(): Gestures {
    return {
      hover: (x, y) => this.hover(x, y),
      leave: () => {
        leaveCrosshair(this.input.id);
        if (!isLocked.peek()) highlighted.value = null;
      },
      click: (x, y) => {
        if (isLocked.peek()) unlock();
        else {
          this.hover(x, y);
          toggleLock();
        }
      },
      doubleClick: () => {
        unlock();
        if (this.plot.isZoomed) this.setZoom(null, true);
        else this.events.opened();
      },
      select: (from, to, isDone) => {
        this.layer.setSelection(isDone ? 0 : from, isDone ? 0 : to);
        if (!isDone) return;
        const { xs } = this.plot.scales();
        const ends = [
          xs.invert(Math.max(0, Math.min(from, to))),
          xs.invert(Math.min(xs.to, Math.max(from, to))),
        ];
        this.setZoom({ first: ends[0] as number, last: ends[1] as number }, true);
      },
      pan: (by, isDone) => {
        const { xs } = this.plot.scales();
        this.setRange(panBy(xs.bend, this.plot.range, by / xs.to), isDone);
      },
      zoom: (x, factor, isDone) => {
        const { xs } = this.plot.scales();
        this.setRange(zoomAround(xs.bend, this.plot.range, xs.invert(x), factor), isDone);
      },
      cancel: () => {
        this.layer.setSelection(0, 0);
        this.setZoom(this.input.zoom, false);
      },
    };
  }

  /** Show a range; one that holds everything is no zoom. */
  private setRange(range: Range, isDone: boolean): void {
    const isAll = range.min <= this.full.min && range.max >= this.full.max;
    this.setZoom(isAll ? null : { first: range.min, last: range.max }, isDone);
  }

  private setZoom(zoom: Zoom | null, isDone: boolean): void {
    if (zoom !== null && !(zoom.last - zoom.first > Math.abs(zoom.first) * 1e-12)) return;
    this.plot.view(zoom);
    this.showCross(crosshair.peek());
    if (isDone) this.events.zoomed(zoom);
  }

  private hover(x: number, y: number): void {
    if (isLocked.peek()) return;
    const { xs } = this.plot.scales();
    this.setCross(xs.invert(x));
    const nearest = this.lineNear(x, y);
    highlighted.value = nearest === null ? null : this.input.runOf(nearest.id);
  }

  private setCross(x: number): void {
    const { id, xAxis, title, lines } = this.input;
    moveCrosshair({ x, axis: xAxis, chart: id }, title, lines);
  }

  private lineNear(x: number, y: number): Line | null {
    const scales = this.plot.scales();
    const { xs } = scales;
    const points = readingsAt(this.input.lines, xs.invert(x));
    let best: Line | null = null;
    let distance = REACH;
    for (const line of this.input.lines) {
      const point = points.get(line.id);
      if (line.faint || point === undefined) continue;
      // along the line between points the pointer may be far from each: across counts less
      const away = Math.hypot((xs.at(point.x) - x) / 3, scaleOf(line, scales).at(point.y) - y);
      if (away < distance) {
        best = line;
        distance = away;
      }
    }
    return best;
  }

  private showCross(at: { x: number; axis: string; chart: string } | null): void {
    const { xAxis, id, lines } = this.input;
    if (at === null || at.axis !== xAxis) {
      this.layer.setCross(null, "");
      this.layer.setDots([]);
      return;
    }
    const isHere = at.chart === id;
    const { xs } = this.plot.scales();
    this.layer.setCross(xs.at(at.x), isHere ? this.labelAt(at.x) : "");
    if (!isHere) {
      this.layer.setDots([]);
      return;
    }
    const points = readingsAt(lines, at.x);
    const dots = lines.flatMap((line) => {
      const point = line.faint ? undefined : points.get(line.id);
      if (point === undefined || point.x < xs.min || point.x > xs.max) return [];
      return [{ x: point.x, y: point.y, line }];
    });
    this.layer.setDots(dots);
  }

  private labelAt(x: number): string {
    const text = xText(this.input.xAxis, x);
    const meant = highlighted.peek();
    const line = this.input.lines.find((one) => !one.faint && this.input.runOf(one.id) === meant);
    if (line === undefined) return text;
    const point = readingsAt([line], x).get(line.id);
    return point === undefined ? text : `${xText(this.input.xAxis, point.x)} · ${number(point.y)}`;
  }

  /** The chart under the pointer shows a highlighted run at once, the others when the pointer rests on it. */
  private followHighlight(): () => void {
    let rest: ReturnType<typeof setTimeout> | undefined;
    let giveUp = (): void => {};
    const forget = (): void => {
      clearTimeout(rest);
      giveUp();
    };
    const end = effect(() => {
      const run = highlighted.value;
      forget();
      const show = (): void => this.layer.raise(this.linesOf(run));
      if (crosshair.peek()?.chart === this.input.id) {
        show();
        this.showCross(crosshair.peek());
      } else {
        rest = setTimeout(() => {
          giveUp = inSomeFrame(show);
        }, REST_MS);
      }
    });
    return () => {
      forget();
      end();
    };
  }

  private linesOf(run: string | null): Line[] {
    if (run === null) return [];
    return this.input.lines.filter((line) => this.input.runOf(line.id) === run);
  }

  // What keys do, see keyboard.ts.

  /** Move the crosshair along the points of the current line. */
  step(by: number): void {
    const lines = this.input.lines.filter((line) => !line.faint && line.x.length > 0);
    const line = lines[Math.min(this.lineAt, lines.length - 1)];
    const next = line === undefined ? null : pointBeside(line, this.plot.range, this.crossHere(), by);
    if (line === undefined || next === null) return;
    unlock();
    this.setCross(next);
    this.sayWhere(line);
  }

  walkLines(by: number): void {
    const lines = this.input.lines.filter((line) => !line.faint);
    if (lines.length === 0) return;
    this.lineAt = (this.lineAt + by + lines.length) % lines.length;
    const line = lines[this.lineAt] as Line;
    highlighted.value = this.input.runOf(line.id);
    this.sayWhere(line);
  }

  /** Zoom around the crosshair, or the middle. */
  zoomBy(factor: number): void {
    const { xs } = this.plot.scales();
    const around = this.crossHere() ?? xs.invert(xs.to / 2);
    this.setRange(zoomAround(xs.bend, this.plot.range, around, factor), true);
  }

  showAll(): void {
    this.setZoom(null, true);
  }

  open(): void {
    this.events.opened();
  }

  lock(): void {
    toggleLock();
    this.events.said(isLocked.peek() ? "Crosshair locked" : "Crosshair free");
  }

  /** Take the crosshair away; whether there was one. */
  dismiss(): boolean {
    if (crosshair.peek() === null && highlighted.peek() === null) return false;
    unlock();
    leaveCrosshair(crosshair.peek()?.chart ?? "");
    highlighted.value = null;
    return true;
  }

  /** Return the crosshair's x if it is in view. */
  private crossHere(): number | null {
    const at = crosshair.peek();
    const { min, max } = this.plot.range;
    return at !== null && at.axis === this.input.xAxis && at.x >= min && at.x <= max ? at.x : null;
  }

  private sayWhere(line: Line): void {
    const at = crosshair.peek();
    const point = at === null ? undefined : readingsAt([line], at.x).get(line.id);
    if (point === undefined) this.events.said(`${line.label}, ${count(line.x.length)} points`);
    else this.events.said(`${line.label}: ${number(point.y)} at ${xText(this.input.xAxis, point.x)}`);
  }
}
