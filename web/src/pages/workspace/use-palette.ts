// Runs and metrics of the project in the palette: to go to a run, or to see one metric large.

import { useEffect } from "preact/hooks";
import { score } from "../../keys/match";
import { addSource, type PaletteItem } from "../../keys/palette";
import { openRun } from "./list/actions";
import type { Workspace } from "./workspace";

/** Of each kind; typing more narrows them down. */
const MOST = 8;

export function usePalette(workspace: Workspace): void {
  useEffect(
    () =>
      addSource((typed) => {
        if (!typed.trim()) return [];
        const metrics = workspace.keys.keys.peek().index.search(typed, MOST).names;
        return [...runItems(workspace, typed), ...metrics.map((key) => metricItem(workspace, key))];
      }),
    [workspace],
  );
}

function runItems(workspace: Workspace, typed: string): PaletteItem[] {
  const found: { id: string; name: string; points: number }[] = [];
  for (const { id, name } of workspace.listed.peek()) {
    const points = score(`${name} ${id}`, typed);
    if (points !== null && points > 200) found.push({ id, name, points });
  }
  return found
    .sort((a, b) => b.points - a.points)
    .slice(0, MOST)
    .map(({ id, name }) => ({
      id: `run ${id}`,
      title: name,
      group: "Runs of this project",
      icon: "chevronRight",
      run: () => openRun(workspace, id),
    }));
}

function metricItem(workspace: Workspace, key: string): PaletteItem {
  return {
    id: `metric ${key}`,
    title: key,
    group: "Metrics",
    icon: "bars",
    run: () => {
      workspace.showCharts();
      workspace.change({ charts: { fullScreen: key } });
    },
  };
}
