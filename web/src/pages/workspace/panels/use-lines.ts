// The lines of a panel, up to date: its curves as they come, made into what its options ask for.

import { useMemo, useRef } from "preact/hooks";
import type { Clip } from "../../../chart/extent";
import type { Curve, Line } from "../../../series/curve";
import { clipRange } from "../../../series/outlier";
import { runColour } from "../../../series/palette";
import type { ChartOptions, Zoom } from "../../../view/state";
import type { CurvesNow } from "../data/curves";
import { pathOf } from "../data/keys";
import { type LinesOf, linesOf } from "../data/lines";
import { useCurves } from "../data/use-curves";
import type { Workspace } from "../workspace";
import type { PanelSpec } from "./specs";

export interface PanelLines extends CurvesNow {
  readonly lines: readonly Line[];
  readonly clip: Clip | null;
}

export function useLines(
  workspace: Workspace,
  spec: PanelSpec,
  options: ChartOptions,
  zoom: Zoom | null,
  pixels: number,
): PanelLines {
  const runs = workspace.drawnPaths.value;
  const keys = useSame(spec.keys);
  const now = useCurves(workspace.curves, { runs, keys, xAxis: options.xAxis, pixels, zoom });
  const styles = workspace.styles.value;
  const groups = workspace.drawn.value.groups;
  const groupStyles = workspace.groupStyles.value;
  const baseline = workspace.baselinePath.value;
  const what = useMemo<LinesOf>(
    () => ({
      runs: styles,
      groups:
        groups?.map(({ id, runs: members }) => ({
          style: groupStyles.get(id) ?? { id, label: "", colour: runColour(id), dash: [] },
          runs: members.map(pathOf),
        })) ?? null,
      keys,
      expression: spec.expression,
      options,
      baseline,
    }),
    [styles, groups, groupStyles, keys, spec.expression, options, baseline],
  );
  const lines = useMemo(() => linesOf(now.curves as Curve[], what, now.whole), [now, what]);
  const clip = useMemo(
    () => (options.clip > 0 ? clipRange(lines, options.clip, zoom?.first, zoom?.last) : null),
    [lines, options.clip, zoom?.first, zoom?.last],
  );
  return { ...now, lines, clip };
}

/** The same array as long as it holds the same. */
function useSame(list: readonly string[]): readonly string[] {
  const kept = useRef(list);
  if (kept.current.length !== list.length || kept.current.some((item, i) => item !== list[i]))
    kept.current = list;
  return kept.current;
}
