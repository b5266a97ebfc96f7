// What the page asks a smoothing worker, and what it answers. Apart from aside.ts, so that the worker does not hold its own opener.

import type { Smoothing } from "../view/state";
import { type SmoothOptions, smooth } from "./smooth";

export interface SmoothRequest {
  readonly id: number;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly smoothing: Smoothing;
  readonly options: SmoothOptions;
}

export interface SmoothAnswer {
  readonly id: number;
  readonly y: Float64Array;
}

export function answer({ id, x, y, smoothing, options }: SmoothRequest): SmoothAnswer {
  const smoothed = smooth(x, y, smoothing, options);
  return { id, y: smoothed === y ? y.slice() : smoothed };
}
