// How many of the shown runs are drawn, and how to draw all: nothing is left out in silence.

import type { JSX } from "preact";
import { count, counted } from "../../../series/format";
import { MOST_DRAWN } from "../data/drawn";
import { useWorkspace } from "../workspace";

const DEFAULT = 20;

export function DrawnNote(): JSX.Element | null {
  const workspace = useWorkspace();
  const drawn = workspace.drawn.value;
  const { draw } = workspace.view.value.runs;
  const hasMetrics = workspace.keys.keys.value.names.length > 0;
  if (workspace.runs.total.value === null || drawn.visible === 0 || !hasMetrics) return null;
  const n = drawn.runs.length;
  const isAll = n >= drawn.visible;
  const all = (): void => workspace.changeRuns({ draw: 0 });
  if (drawn.groups !== null) {
    const whole = drawn.groups.length >= drawn.visibleGroups && isAll;
    return (
      <span class="drawn-note" role="status">
        Drawing {whole ? "" : `${count(drawn.groups.length)} of `}
        {counted(drawn.visibleGroups, "group")}, {whole ? "" : `${count(n)} of `}
        {counted(drawn.visible, "run")}
        {!whole && draw !== 0 && (
          <button type="button" class="link" onClick={all}>
            draw all
          </button>
        )}
      </span>
    );
  }
  if (isAll && draw === DEFAULT) {
    return (
      <span class="drawn-note quiet" role="status">
        Drawing {counted(n, "run")}
      </span>
    );
  }
  return (
    <span class="drawn-note" role="status">
      Drawing {isAll ? counted(n, "run") : `${count(n)} of ${counted(drawn.visible, "shown run")}`}
      {!isAll && draw !== 0 && (
        <button type="button" class="link" onClick={all}>
          draw {drawn.visible > MOST_DRAWN ? count(MOST_DRAWN) : "all"}
        </button>
      )}
      {!isAll && draw === 0 && n >= MOST_DRAWN && (
        <span class="quiet">the most that one page draws; filter to see others</span>
      )}
      {draw !== DEFAULT && (
        <button type="button" class="link" onClick={() => workspace.changeRuns({ draw: DEFAULT })}>
          draw {DEFAULT}
        </button>
      )}
    </span>
  );
}
