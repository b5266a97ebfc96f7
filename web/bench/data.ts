// Made-up training curves and runs, the same in each run of the benchmark; and when a frame with what was done is out.

import type { Line } from "../src/series/curve";
import type { RunItem } from "../src/server/types";

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

export function runOf(number: number): RunItem {
  return {
    entity: "bench",
    project: "runs",
    id: `run-${number}`,
    name: `trial ${number} with a name of usual length`,
    state: number % 7 === 0 ? "failed" : "finished",
    created_ns: 1.7e18,
    started_ns: 1.7e18,
    ended_ns: 1.7e18,
    heartbeat_ns: 1.7e18,
    runtime_s: 60,
    version: 1,
    deleted_ns: null,
    stop_by: null,
    num_rows: 100,
    parent: null,
    fork_step: null,
    last_step: 99,
    tags: [],
    notes: "",
    group: null,
    job_type: null,
    user: "bench",
    host: null,
    values: { "summary.loss": 1 / (number + 1), "config.lr": 0.001 * (number % 10) },
    config: null,
    summary: null,
  };
}

/** Do something and return how many milliseconds it takes until the frame that shows it is handed over. */
export async function untilShown(act: () => void): Promise<number> {
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const started = performance.now();
  act();
  await new Promise<void>((resolve) => {
    // the frame's own work is done when a message that was sent in it arrives
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve();
      channel.port2.postMessage(null);
    });
  });
  return performance.now() - started;
}
