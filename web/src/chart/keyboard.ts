// What the keys of a focused chart mean, and the point beside another, by which arrow keys walk.

import type { Line } from "../series/curve";
import type { Range } from "./scale";

export interface KeyTarget {
  step(by: number): void;
  walkLines(by: number): void;
  zoomBy(factor: number): void;
  showAll(): void;
  lock(): void;
  open(): void;
  dismiss(): boolean;
}

const ZOOM_STEP = 0.6;
/** Points that an arrow moves with Shift. */
const FAR = 10;

/** Do what a key means; whether it means something. */
export function handleKey(event: KeyboardEvent, target: KeyTarget): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const by = event.shiftKey ? FAR : 1;
  switch (event.key) {
    case "ArrowRight":
      target.step(by);
      return true;
    case "ArrowLeft":
      target.step(-by);
      return true;
    case "Home":
      target.step(-Infinity);
      return true;
    case "End":
      target.step(Infinity);
      return true;
    case "ArrowDown":
      target.walkLines(1);
      return true;
    case "ArrowUp":
      target.walkLines(-1);
      return true;
    case "+":
    case "=":
      target.zoomBy(ZOOM_STEP);
      return true;
    case "-":
      target.zoomBy(1 / ZOOM_STEP);
      return true;
    case "0":
      target.showAll();
      return true;
    case " ":
      target.lock();
      return true;
    case "Enter":
      target.open();
      return true;
    case "Escape":
      return target.dismiss();
    default:
      return false;
  }
}

/** Return the x of the point `by` points beside `x` (null: from the end) among those in view, null if there are none. */
export function pointBeside(line: Line, { min, max }: Range, x: number | null, by: number): number | null {
  const visible = Array.from(line.x).filter(
    (value, i) => value >= min && value <= max && !Number.isNaN(line.y[i]),
  );
  if (visible.length === 0) return null;
  const from = x ?? (by > 0 ? -Infinity : Infinity);
  let i =
    by > 0 ? visible.findIndex((value) => value > from) : visible.findLastIndex((value) => value < from);
  if (i < 0) i = by > 0 ? visible.length - 1 : 0;
  i += by > 0 ? by - 1 : by + 1;
  return visible[Math.max(0, Math.min(visible.length - 1, i))] as number;
}
