// The charts of a workspace with one run in it: the same panels, options and address, without a list of runs.

import { computed } from "@preact/signals";
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
    const { curves } = this.curves.read({
      runs: [this.path],
      keys: [key],
      xAxis: "step",
      pixels: 800,
      zoom: null,
    });
    const curve = curves[0];
    if (curve === undefined || curve.step.length === 0) return null;
    return momentOfStep(curve.step, curve.time, x);
  }
}

/** Return the time (ms) of the point whose step is nearest; steps go up. */
export function momentOfStep(steps: Float64Array, seconds: Float64Array, step: number): number | null {
  let low = 0;
  let high = steps.length - 1;
  if (high < 0) return null;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) < step) low = middle + 1;
    else high = middle;
  }
  const isBefore = low > 0 && step - (steps[low - 1] as number) < (steps[low] as number) - step;
  return (seconds[isBefore ? low - 1 : low] as number) * 1000;
}
