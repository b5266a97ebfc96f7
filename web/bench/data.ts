// Made-up training curves, the same in each run of the benchmark.

import type { Line } from "../src/series/curve";

const COLOURS = ["#3451d1", "#d1495b", "#1b998b", "#c27c00", "#7b4fb5", "#0f7ea8", "#9c6644", "#5f7f2f"];

/** A small generator with a seed, because Math.random has none. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function steps(points: number): Float64Array {
  return Float64Array.from({ length: points }, (_, i) => i);
}

/** Return values that fall and wobble like a loss. */
export function loss(points: number, seed: number): Float64Array {
  const random = randomFrom(seed);
  const scale = 1 + random();
  let drift = 0;
  return Float64Array.from({ length: points }, (_, i) => {
    drift = 0.97 * drift + (random() - 0.5) * 0.08;
    return scale * Math.exp((-3 * i) / points) + 0.2 + drift * 0.3 + (random() - 0.5) * 0.05;
  });
}

export function lineOf(
  id: string,
  x: Float64Array,
  y: Float64Array,
  index: number,
  more: Partial<Line> = {},
): Line {
  return {
    id,
    label: id,
    colour: COLOURS[index % COLOURS.length] as string,
    dash: [],
    width: 1.5,
    faint: false,
    x,
    y,
    low: null,
    high: null,
    marks: [],
    members: 1,
    ...more,
  };
}
