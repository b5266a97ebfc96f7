// The lines of a panel, up to date: its curves as they come, made into what its options ask for.

import { useMemo, useRef } from "preact/hooks";
import type { Clip } from "../../../chart/extent";
import { sidesOf } from "../../../chart/sides";
import { pathOf } from "../../../runs/path";
import type { Line } from "../../../series/curve";
import { clipRange } from "../../../series/outlier";
import { runColour } from "../../../series/palette";
import type { ChartOptions, Zoom } from "../../../view/state";
import type { CurvesNow } from "../data/curves";
import { type LinesOf, linesOf } from "../data/lines";
import { useCurves } from "../data/use-curves";
import type { Workspace } from "../workspace";
import { keyTitle, type PanelKeys, panelKeys } from "./right-axis";
import type { PanelSpec } from "./specs";
import { usePlacedSamples } from "./use-placed-samples";

export interface PanelLines extends CurvesNow {
  readonly lines: readonly Line[];
  readonly clip: Clip | null;
  readonly keys: PanelKeys;
}

export function useLines(
  workspace: Workspace,
  spec: PanelSpec,
  options: ChartOptions,
  zoom: Zoom | null,
  pixels: number,
): PanelLines {
  const runs = workspace.drawnPaths.value;
  const keys = useMemo(() => panelKeys(spec, options), [spec, options.right]);
  const logged = useSame(keys.logged);
  const now = useCurves(workspace.curves, { runs, keys: logged, xAxis: options.xAxis, pixels, zoom });
  const samples = usePlacedSamples(workspace, keys.samples, options.xAxis, zoom, now.whole);
  const styles = workspace.styles.value;
  const groups = workspace.drawn.value.groups;
  const groupStyles = workspace.groupStyles.value;
  const baseline = workspace.baseline.value;
  const what = useMemo<LinesOf>(
    () => ({
      runs: styles,
      groups:
        groups?.map(({ id, runs: members }) => ({
          style: groupStyles.get(id) ?? { id, label: "", colour: runColour(id), dash: [] },
          runs: members.map(pathOf),
        })) ?? null,
      keys: keys.drawn,
      right: keys.right,
      titleOf: (key) => keyTitle(key, keys, spec),
      expression: spec.expression,
      options,
      baseline,
    }),
    [styles, groups, groupStyles, keys, spec, options, baseline],
  );
  const lines = useMemo(
    () => linesOf([...now.curves, ...samples], what, [...now.whole, ...samples]),
    [now, samples, what],
  );
  const clip = useMemo(
    () => (options.clip > 0 ? clipRange(sidesOf(lines).left, options.clip, zoom?.first, zoom?.last) : null),
    [lines, options.clip, zoom?.first, zoom?.last],
  );
  return { ...now, lines, clip, keys };
}

/** The same array as long as it holds the same. */
function useSame(list: readonly string[]): readonly string[] {
  const kept = useRef(list);
  if (kept.current.length !== list.length || kept.current.some((item, i) => item !== list[i]))
    kept.current = list;
  return kept.current;
}
