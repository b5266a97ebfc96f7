// Path data of SVG, as short as it gets without being seen.

import type { Pen } from "./trace";

/** Path data with relative moves in tenths of a pixel, which are a third of the length of absolute ones. */
export class PathText implements Pen {
  text = "";
  private x = 0;
  private y = 0;
  private isLine = false;

  moveTo(x: number, y: number): void {
    this.x = tenths(x);
    this.y = tenths(y);
    this.text += `M${this.x / 10} ${this.y / 10}`;
    this.isLine = false;
  }

  lineTo(x: number, y: number): void {
    const nextX = tenths(x);
    const nextY = tenths(y);
    const dx = nextX - this.x;
    const dy = nextY - this.y;
    if (dx === 0 && dy === 0) return;
    const gap = this.isLine && dx >= 0 ? " " : "";
    this.text += `${this.isLine ? gap : "l"}${dx / 10}${dy < 0 ? "" : " "}${dy / 10}`;
    this.isLine = true;
    this.x = nextX;
    this.y = nextY;
  }
}

/** Return a length in tenths of a pixel, whole. */
export function tenths(value: number): number {
  return Math.round(value * 10);
}
