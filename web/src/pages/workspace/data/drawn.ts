// Which runs are drawn, out of those that are listed: those whose eye is open, the pinned ones first, as many as the view
// says. Pure; what is left out is counted, so that the page can say so.

import type { RunGroup, RunItem } from "../../../server/types";
import type { RunsView } from "../../../view/state";

/** More lines than this make no picture, and no page can hold them. */
export const MOST_DRAWN = 1000;
/** Runs that groups may have in all before later groups are left out; a group is drawn whole or not at all. */
const GROUPED = 300;

export interface DrawnGroup {
  readonly id: string;
  readonly group: RunGroup;
  readonly runs: readonly RunItem[];
}

export interface Drawn {
  readonly runs: readonly RunItem[];
  /** Null where runs are not grouped. */
  readonly groups: readonly DrawnGroup[] | null;
  /** Runs whose eye is open, those that are not listed yet included. */
  readonly visible: number;
  /** Groups whose eye is open. */
  readonly visibleGroups: number;
}

export type Eyes = Pick<RunsView, "hidden" | "shownOnly">;

export function isShown(id: string, eyes: Eyes): boolean {
  if (eyes.shownOnly.length > 0) return eyes.shownOnly.includes(id);
  return !eyes.hidden.includes(id);
}

/** The name of a group among run ids: ids have no colon. */
export function groupId(key: string): string {
  return `group:${key}`;
}

export function isGroupId(id: string): boolean {
  return id.startsWith("group:");
}

/** The run that others are compared with; null if a group is, or none. */
export function baselineRun({ baseline }: RunsView): string | null {
  return baseline === null || isGroupId(baseline) ? null : baseline;
}

/** Return how runs are grouped by other fields: a group of before cannot be the baseline, its name would mean another. */
export function groupedBy(fields: readonly string[], { baseline }: RunsView): Partial<RunsView> {
  return { group: fields, ...(baseline !== null && isGroupId(baseline) && { baseline: null }) };
}

/** Return pinned runs before the others, each once, all in list order. */
export function listed(
  rows: readonly RunItem[],
  extra: readonly RunItem[],
  pinned: readonly string[],
): RunItem[] {
  if (pinned.length === 0) return rows as RunItem[];
  const known = new Map([...extra, ...rows].map((run) => [run.id, run]));
  const first = pinned.map((id) => known.get(id)).filter((run) => run !== undefined);
  const isFirst = new Set(first.map((run) => run.id));
  return [...first, ...rows.filter((run) => !isFirst.has(run.id))];
}

/** Return what is drawn of a plain list. `total` counts the runs of all pages. */
export function drawnRuns(
  rows: readonly RunItem[],
  extra: readonly RunItem[],
  view: RunsView,
  total: number | null,
): Drawn {
  const all = listed(rows, extra, view.pinned);
  const only = new Set(view.shownOnly);
  const hidden = new Set(view.hidden);
  const most = limitOf(view.draw);
  // Of 100,000 runs only as many are looked at as are drawn, wherever that can be told.
  const shown = only.size
    ? uniqueRuns([...extra, ...all]).filter((run) => only.has(run.id))
    : hidden.size
      ? all.filter((run) => !hidden.has(run.id))
      : all;
  const runs = shown.slice(0, most);
  // Differences need their baseline, whatever else is left out.
  const { baseline } = view;
  if (baseline !== null && isShown(baseline, view) && !runs.some((run) => run.id === baseline)) {
    const base = extra.find((run) => run.id === baseline) ?? all.find((run) => run.id === baseline);
    if (base && runs.length >= most) runs.pop();
    if (base) runs.push(base);
  }
  const unlisted = only.size ? 0 : Math.max(0, (total ?? 0) - rows.length);
  return { runs, groups: null, visible: shown.length + unlisted, visibleGroups: 0 };
}

/** Return what is drawn of groups; `membersOf` gives the runs of a group, and is asked only for groups that are drawn. */
export function drawnGroups(
  groups: readonly RunGroup[],
  membersOf: (group: RunGroup) => readonly RunItem[],
  view: RunsView,
): Drawn {
  const eyes: Eyes = { hidden: view.hidden, shownOnly: view.shownOnly };
  const shown = groups.filter((group) => isShown(groupId(group.key), eyes));
  const most = view.draw === 0 ? MOST_DRAWN : Math.max(GROUPED, view.draw);
  const hidden = new Set(view.hidden);
  const drawn: DrawnGroup[] = [];
  const runs: RunItem[] = [];
  // Differences need their baseline here too.
  const base = shown.find((group) => groupId(group.key) === view.baseline);
  let counted = base?.num_runs ?? 0;
  let isFull = false;
  for (const group of shown) {
    if (group !== base) {
      isFull ||= counted > 0 && counted + group.num_runs > most;
      if (isFull) continue;
      counted += group.num_runs;
    }
    const members = membersOf(group).filter((run) => !hidden.has(run.id));
    drawn.push({ id: groupId(group.key), group, runs: members });
    runs.push(...members);
  }
  const visible = shown.reduce((sum, group) => sum + group.num_runs, 0);
  return { runs, groups: drawn, visible, visibleGroups: shown.length };
}

function uniqueRuns(runs: readonly RunItem[]): RunItem[] {
  return [...new Map(runs.map((run) => [run.id, run])).values()];
}

function limitOf(draw: number): number {
  return draw === 0 ? MOST_DRAWN : Math.min(draw, MOST_DRAWN);
}
