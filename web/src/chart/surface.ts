// A Surface takes paths and texts: a canvas on the screen and in a PNG, elements in an SVG (export/svg.ts).
// All lengths are in the surface's own pixels.

import type { Pen } from "./trace";

export interface PathStyle {
  readonly stroke?: string;
  readonly fill?: string;
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly alpha?: number;
  /** More points than pixels: how corners and ends are shaped is not seen. */
  readonly isCrowded?: boolean;
}

export interface TextStyle {
  readonly colour: string;
  readonly size: number;
  readonly bold?: boolean;
  readonly anchor?: "start" | "middle" | "end";
  readonly baseline?: "top" | "middle" | "bottom";
  /** A quarter turn to the left, for the name of the y axis. */
  readonly upward?: boolean;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Surface {
  path(style: PathStyle, trace: (pen: Pen) => void): void;
  disc(style: PathStyle, x: number, y: number, radius: number): void;
  text(text: string, x: number, y: number, style: TextStyle): void;
  /** Draw with everything outside the box cut off. */
  within(box: Box, draw: () => void): void;
  widthOf(text: string, size: number): number;
}

export class CanvasSurface implements Surface {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly font: string,
  ) {}

  path(style: PathStyle, trace: (pen: Pen) => void): void {
    if (style.isCrowded && style.stroke !== undefined && (style.dash ?? []).length === 0) {
      const path = new Path2D();
      trace(path);
      this.hairlines(path, style.stroke, style.width ?? 1, style.alpha ?? 1);
      return;
    }
    this.context.beginPath();
    trace(this.context);
    this.finish(style);
  }

  disc(style: PathStyle, x: number, y: number, radius: number): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.finish(style);
  }

  /**
   * Stroke a crowded path as lines of one pixel beside each other. Without a GPU one such line is drawn about nine times
   * as fast as a wider one, for which the browser works out the outline of every little piece.
   */
  private hairlines(path: Path2D, stroke: string, width: number, alpha: number): void {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = stroke;
    context.lineWidth = 1;
    context.lineJoin = "bevel";
    context.lineCap = "butt";
    context.setLineDash([]);
    // what is seen through would be darker where the lines overlap
    const count = alpha < 1 ? 1 : Math.ceil(width);
    for (let i = 0; i < count; i++) {
      const by = count === 1 ? 0 : (i / (count - 1) - 0.5) * (width - 1);
      context.translate(0, by);
      context.stroke(path);
      context.translate(0, -by);
    }
    context.globalAlpha = 1;
  }

  private finish({ stroke, fill, width = 1, dash = [], alpha = 1 }: PathStyle): void {
    const { context } = this;
    context.globalAlpha = alpha;
    if (fill !== undefined) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke !== undefined) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.lineJoin = "round";
      context.lineCap = dash.length > 0 ? "butt" : "round";
      context.setLineDash(dash as number[]);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const { context } = this;
    context.save();
    context.font = `${style.bold ? "600 " : ""}${style.size}px ${this.font}`;
    context.fillStyle = style.colour;
    context.textAlign = style.anchor === "middle" ? "center" : (style.anchor ?? "start");
    context.textBaseline = style.baseline ?? "middle";
    context.translate(x, y);
    if (style.upward) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  }

  within(box: Box, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    draw();
    context.restore();
  }

  widthOf(text: string, size: number): number {
    this.context.font = `${size}px ${this.font}`;
    return this.context.measureText(text).width;
  }
}
