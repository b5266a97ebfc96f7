// Small curves beside the rows in view.

import { useMemo } from "preact/hooks";
import { pathOf } from "../../../runs/path";
import type { Curve } from "../../../series/curve";
import type { RunItem } from "../../../server/types";
import { useCurves } from "../data/use-curves";
import type { Workspace } from "../workspace";

/** Points of a small curve. */
const POINTS = 48;
const NO_KEYS: readonly string[] = [];

/** Return the curves of the rows in view, by path. */
export function useSparks(
  workspace: Workspace,
  runs: readonly RunItem[],
  key: string | null,
): ReadonlyMap<string, Curve> {
  const names = runs.map(pathOf).join("\n");
  // the names say which runs they are
  const paths = useMemo(() => runs.map(pathOf), [names]);
  const keys = useMemo(() => (key === null ? NO_KEYS : [key]), [key]);
  const { curves } = useCurves(workspace.curves, {
    runs: paths,
    keys,
    xAxis: "step",
    pixels: POINTS,
    zoom: null,
  });
  return useMemo(() => new Map(curves.map((curve) => [curve.run, curve])), [curves]);
}
