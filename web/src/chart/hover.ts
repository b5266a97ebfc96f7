// What comes and goes over a plot: the crosshair, the selection, and, on a canvas that exists only while needed, the
// highlighted line with a veil over all others, and dots. The plot below is never drawn again for any of it.

import type { Line } from "../series/curve";
import { paintBand, paintDots, paintLine } from "./paint";
import type { Plot } from "./plot";
import { scaleOf } from "./sides";
import { CanvasSurface } from "./surface";
import type { ChartTheme } from "./theme";

export interface HoverDot {
  readonly x: number;
  readonly y: number;
  readonly line: Line;
}

const VEIL_ALPHA = 0.68;
const EMPHASIS = 1.8;
const DOT_RADIUS = 3.5;

export class HoverLayer {
  readonly area = div("chart-area");
  private readonly cross = div("chart-cross");
  private readonly selection = div("chart-selection");
  private readonly place = div("chart-place");
  private canvas: HTMLCanvasElement | null = null;
  private raised: readonly Line[] = [];
  private dots: readonly HoverDot[] = [];
  private wasPlaced = "";
  private frame = 0;

  constructor(
    host: HTMLElement,
    private readonly plot: Plot,
    private theme: ChartTheme,
  ) {
    this.cross.hidden = this.selection.hidden = this.place.hidden = true;
    this.area.append(this.cross, this.selection, this.place);
    host.append(this.area);
  }

  /** Lie over the plotting area again after the layout has changed. */
  follow(theme: ChartTheme): void {
    this.theme = theme;
    const { left, top, width, height } = this.plot.area();
    const placed = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
    if (placed !== this.wasPlaced) this.area.style.cssText = placed;
    this.wasPlaced = placed;
    if (this.canvas !== null) this.schedule();
  }

  /** Show the crosshair at a pixel; null or a place outside hides it. */
  setCross(x: number | null, label: string): void {
    const isIn = x !== null && x >= 0 && x <= this.plot.area().width;
    if (this.cross.hidden === isIn) this.cross.hidden = !isIn;
    if (isIn) this.cross.style.transform = `translateX(${Math.round(x)}px)`;
    const isNamed = isIn && label !== "";
    if (this.place.hidden === isNamed) this.place.hidden = !isNamed;
    if (!isNamed) return;
    this.place.textContent = label;
    // the label stays within the chart: at the ends it slides along
    this.place.style.transform = `translateX(calc(${Math.round(x)}px - ${(100 * x) / this.plot.area().width}%))`;
  }

  setSelection(from: number, to: number): void {
    this.selection.hidden = from === to;
    this.selection.style.cssText = `left:${Math.min(from, to)}px;width:${Math.abs(to - from)}px`;
  }

  /** Lines above the veil; none takes the veil away. */
  raise(lines: readonly Line[]): void {
    if (lines.length === 0 && this.raised.length === 0) return;
    this.raised = lines;
    this.schedule();
  }

  setDots(dots: readonly HoverDot[]): void {
    if (dots.length === 0 && this.dots.length === 0) return;
    this.dots = dots;
    this.schedule();
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.area.remove();
  }

  /** Paint once in this frame, however much changes: pointers move just before frames are made. */
  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  private paint(): void {
    if (this.raised.length === 0 && this.dots.length === 0) {
      this.canvas?.remove();
      this.canvas = null;
      return;
    }
    if (this.canvas === null) {
      this.canvas = document.createElement("canvas");
      this.area.prepend(this.canvas);
    }
    const { canvas, plot, theme } = this;
    const scene = plot.scene(0, 0);
    const width = Math.round(scene.box.width);
    const height = Math.round(scene.box.height);
    const context = canvas.getContext("2d");
    if (context === null) return;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    } else context.clearRect(0, 0, width, height);
    const surface = new CanvasSurface(context, theme.font);
    if (this.raised.length > 0) {
      context.globalAlpha = VEIL_ALPHA;
      context.fillStyle = theme.surface;
      context.fillRect(0, 0, width, height);
      context.globalAlpha = 1;
      surface.within(scene.box, () => {
        for (const line of this.raised) paintBand(surface, scene, line);
        for (const line of this.raised) {
          paintDots(surface, scene, paintLine(surface, scene, line, line.faint ? 1 : EMPHASIS));
        }
      });
    }
    const radius = DOT_RADIUS * scene.ratio;
    for (const { x, y, line } of this.dots) {
      const style = { fill: theme.colourOf(line.colour), stroke: theme.surface, width: 1.5 * scene.ratio };
      surface.disc(style, scene.xs.at(x), scaleOf(line, scene).at(y), radius);
    }
  }
}

function div(name: string): HTMLDivElement {
  const made = document.createElement("div");
  made.className = name;
  return made;
}
