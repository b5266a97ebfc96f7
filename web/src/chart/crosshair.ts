// One crosshair for all charts of the page, as signals: where it is, what lines are worth there, which run is meant.
// Charts move their own line when the place changes; the run list reads `readings`. Nothing here draws.

import { batch, signal } from "@preact/signals";
import type { Line } from "../series/curve";
import { nearestIndex } from "./lookup";

export interface Crosshair {
  readonly x: number;
  /** Only charts with the same x axis follow. */
  readonly axis: string;
  /** The chart that the pointer is in. */
  readonly chart: string;
}

/** A logged (or bucketed) point: never a value between two. */
export interface Reading {
  readonly x: number;
  readonly y: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Readings {
  readonly chart: string;
  readonly title: string;
  readonly x: number;
  readonly axis: string;
  /** By line id. */
  readonly values: ReadonlyMap<string, Reading>;
}

export const crosshair = signal<Crosshair | null>(null);
/** Values in the chart under the pointer. */
export const readings = signal<Readings | null>(null);
/** Set by a click: the crosshair stays until the next one. */
export const isLocked = signal(false);
/** The run that is meant: hovered in the list, or its line in a chart. */
export const highlighted = signal<string | null>(null);

/** Return the nearest point of each line; faint lines have none. */
export function readingsAt(lines: readonly Line[], x: number): Map<string, Reading> {
  const values = new Map<string, Reading>();
  for (const line of lines) {
    if (line.faint) continue;
    const i = nearestIndex(line.x, line.y, x);
    if (i < 0) continue;
    values.set(line.id, {
      x: line.x[i] as number,
      y: line.y[i] as number,
      low: line.low?.[i] ?? null,
      high: line.high?.[i] ?? null,
    });
  }
  return values;
}

/** Move the crosshair; while it is locked, nothing moves. */
export function moveCrosshair(at: Crosshair, title: string, lines: readonly Line[]): void {
  if (isLocked.peek()) return;
  batch(() => {
    crosshair.value = at;
    readings.value = { ...at, title, values: readingsAt(lines, at.x) };
  });
}

/** Take the crosshair away if it is this chart's and not locked. */
export function leaveCrosshair(chart: string): void {
  if (isLocked.peek() || crosshair.peek()?.chart !== chart) return;
  batch(() => {
    crosshair.value = null;
    readings.value = null;
  });
}

/** Lock the crosshair where it is, or let it go. */
export function toggleLock(): void {
  isLocked.value = !isLocked.peek() && crosshair.peek() !== null;
}

export function unlock(): void {
  isLocked.value = false;
}
