// One curve that the page holds: as the server gave it, and the points that came since.

import { LiveCurve } from "../../../series/append";
import type { Curve } from "../../../series/curve";
import type { PointNews } from "../../../server/live";
import { axisKey } from "../../../view/state";

export type SlotState = "new" | "asked" | "here" | "failed";

export class Slot {
  state: SlotState = "new";
  /** Null while it is not here, and if the run does not have the key. */
  curve: Curve | null = null;
  /** The run's version that the curve is up to date with. */
  version = 0;
  /** Something came that could not be added. */
  isStale = false;
  #live: LiveCurve | null = null;

  constructor(
    readonly run: string,
    readonly key: string,
  ) {}

  fill(curve: Curve | null): void {
    this.state = "here";
    this.curve = curve;
    this.version = curve?.version ?? 0;
    this.isStale = false;
    this.#live = null;
  }

  /** Add points; tells whether the curve is another now. */
  append(news: PointNews, xAxis: string, budget: number): boolean {
    if (this.state !== "here") {
      // The answer under way may have been made before these points.
      this.isStale = true;
      return false;
    }
    const isOwnAxis = axisKey(xAxis) === null;
    if (news.isCut || this.curve === null || !isOwnAxis) {
      this.isStale = true;
      return false;
    }
    const axis = xAxis === "relative" || xAxis === "wall" ? xAxis : "step";
    this.#live ??= new LiveCurve(this.curve, axis);
    const { curve, isIncomplete } = this.#live.append({
      steps: Array.from(news.steps),
      times_ns: Array.from(news.times, (seconds) => seconds * 1e9),
      values: Array.from(news.values),
      replaces_from: news.replacesFrom,
      version: news.version,
    });
    this.curve = curve;
    this.version = Math.max(this.version, news.version);
    // A curve that has grown far beyond its budget is asked for again, in fewer buckets.
    if (isIncomplete || curve.x.length > 2 * budget) this.isStale = true;
    return true;
  }
}
