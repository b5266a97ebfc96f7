// Samples of the system beside what was logged: over the x axis of the panel, whatever that is.

import { useMemo } from "preact/hooks";
import { useSamples } from "../../../runs/use-samples";
import { placedByTime } from "../../../series/by-time";
import type { Curve } from "../../../series/curve";
import type { Zoom } from "../../../view/state";
import type { Workspace } from "../workspace";

/** Samples come about as often; asking for more would bring nothing. */
const EVERY_MS = 15_000;

/** Return the curves of samples (entry -> key) of the drawn runs; `logged` are curves of the panel, unzoomed. */
export function usePlacedSamples(
  workspace: Workspace,
  samples: ReadonlyMap<string, string>,
  xAxis: string,
  zoom: Zoom | null,
  logged: readonly Curve[],
): readonly Curve[] {
  const isTime = xAxis === "wall" || xAxis === "relative";
  const isRunning = samples.size > 0 && workspace.drawn.value.runs.some((run) => run.state === "running");
  const { curves } = useSamples({
    runs: workspace.drawnPaths.value,
    keys: [...samples.values()],
    isSystem: true,
    axis: xAxis === "relative" ? "relative" : "wall",
    zoom: isTime ? zoom : null,
    beat: isRunning ? Math.floor(workspace.now.value / EVERY_MS) : 0,
  });
  return useMemo(() => {
    if (samples.size === 0 || curves === null) return [];
    const entries = new Map([...samples].map(([entry, key]) => [key, entry]));
    const named = curves.flatMap((curve) => {
      const entry = entries.get(curve.key);
      return entry === undefined ? [] : [{ ...curve, key: entry }];
    });
    if (isTime) return named;
    const guides = new Map<string, Curve>();
    for (const curve of logged) if (!guides.has(curve.run)) guides.set(curve.run, curve);
    return named.flatMap((curve) => {
      const guide = guides.get(curve.run);
      return guide === undefined ? [] : [placedByTime(curve, guide)];
    });
  }, [samples, curves, isTime, logged]);
}
