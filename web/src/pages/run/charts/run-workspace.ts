// The charts of a workspace with one run in it: the same panels, options and address, without a list of runs.

import { computed } from "@preact/signals";
import type { Curve } from "../../../series/curve";
import type { Listener, Watch } from "../../../server/live";
import { Workspace } from "../../workspace/workspace";
import type { RunModel } from "../model";

export class RunWorkspace extends Workspace {
  readonly path: string;
  readonly run: string;
  override readonly filterText = computed(() => JSON.stringify({ id: this.run }));

  constructor(private readonly model: RunModel) {
    super(model.entity, model.project);
    this.run = model.id;
    this.path = model.path;
  }

  /** The page has a stream already, which can tell of points too. */
  override listen(keys: readonly string[], listener: Listener): Watch {
    return this.model.listenAlong(keys, listener);
  }

  /** Return the moment (ms) of a place on an x axis; null where that cannot be told. */
  momentAt(axis: string, x: number, key: string): number | null {
    if (axis === "wall") return x * 1000;
    const started = this.find(this.run)?.started_ns;
    if (axis === "relative") return started ? started / 1e6 + x * 1000 : null;
    if (axis !== "step") return null;
    const curve = this.#curve("step", [key]);
    const seconds = curve && beside(curve.step, curve.time, x);
    return seconds === null ? null : seconds * 1000;
  }

  /** Return the step of a place on an x axis; null where no chart over that axis is drawn. */
  stepAt(axis: string, x: number): number | null {
    if (axis === "step") return x;
    const curve = this.#curve(axis);
    return curve && beside(curve.x, curve.step, x);
  }

  /** Return where a step lies on an x axis. */
  placeOfStep(axis: string, step: number): number | null {
    if (axis === "step") return step;
    const curve = this.#curve(axis);
    return curve && beside(curve.step, curve.x, step);
  }

  /** The first of some curves that is here, as the charts have it. */
  #curve(xAxis: string, keys: readonly string[] = this.keys.keys.peek().names): Curve | null {
    const { curves } = this.curves.read({ runs: [this.path], keys, xAxis, pixels: 800, zoom: null });
    return curves.find((curve) => curve.step.length > 0) ?? null;
  }
}

/** Return what `to` has at the point whose `from` is nearest; a metric along x need not go up. */
export function beside(from: Float64Array, to: Float64Array, at: number): number | null {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  for (let i = 0; i < from.length; i++) {
    const away = Math.abs((from[i] as number) - at);
    if (away >= distance) continue;
    best = i;
    distance = away;
  }
  return to[best] ?? null;
}
