// A Surface takes paths and texts: a canvas on the screen and in a PNG, elements in an SVG (export/svg.ts).
// All lengths are in the surface's own pixels.

import type { Pen } from "./trace";

export interface PathStyle {
  readonly stroke?: string;
  readonly fill?: string;
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly alpha?: number;
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
    this.context.beginPath();
    trace(this.context);
    this.finish(style);
  }

  disc(style: PathStyle, x: number, y: number, radius: number): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.finish(style);
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
