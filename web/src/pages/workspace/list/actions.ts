// What can be done to runs: each change is shown at once, told to the server, and taken back if that fails.

import { go } from "../../../app/navigation";
import { counted } from "../../../series/format";
import { patch, place, post, remove } from "../../../server/client";
import type { RunDocument, RunItem } from "../../../server/types";
import { say, sayError } from "../../../ui/toast";
import { baselineRun } from "../data/drawn";
import type { Workspace } from "../workspace";

export type RunEdit = Partial<Pick<RunItem, "name" | "notes" | "tags">>;

function addressOf(run: RunItem, ...more: readonly string[]): string {
  return place("runs", run.entity, run.project, run.id, ...more);
}

function change(workspace: Workspace, id: string, by: (run: RunItem) => RunItem | null): void {
  const changes = new Map([[id, by]]);
  for (const source of [workspace.runs, workspace.named, ...workspace.groups.open]) source.patch(changes);
}

function withEdit(run: RunItem, edit: RunEdit): RunItem {
  const values = run.values && { ...run.values };
  if (values && edit.tags && "tags" in values) values.tags = edit.tags;
  if (values && edit.notes !== undefined && "notes" in values) values.notes = edit.notes;
  return { ...run, ...edit, values };
}

export async function editRun(workspace: Workspace, run: RunItem, edit: RunEdit): Promise<void> {
  change(workspace, run.id, (now) => withEdit(now, edit));
  try {
    await patch<RunDocument>(addressOf(run), edit);
  } catch (error) {
    const { name, notes, tags } = run;
    change(workspace, run.id, (now) => withEdit(now, { name, notes, tags }));
    sayError(error);
  }
}

export async function stopRun(workspace: Workspace, run: RunItem): Promise<void> {
  try {
    const now = await post<RunDocument>(addressOf(run, "stop"));
    change(workspace, run.id, (row) => ({ ...row, stop_by: now.stop_by, state: now.state }));
    say(`Asked ${run.name} to stop`, { tone: "good" });
  } catch (error) {
    sayError(error);
  }
}

/** Hide runs for good; for some seconds that can be undone with a click. */
export async function deleteRuns(workspace: Workspace, runs: readonly RunItem[]): Promise<void> {
  const gone: RunItem[] = [];
  for (const run of runs) {
    try {
      await remove(addressOf(run));
      change(workspace, run.id, () => null);
      gone.push(run);
    } catch (error) {
      sayError(error);
      break;
    }
  }
  if (gone.length === 0) return;
  const left = workspace.view.peek().runs.selected.filter((id) => !gone.some((run) => run.id === id));
  workspace.changeRuns({ selected: left }, { replace: true });
  say(`Deleted ${counted(gone.length, "run")}`, {
    action: { title: "Undo", run: () => void restoreRuns(workspace, gone) },
  });
}

async function restoreRuns(workspace: Workspace, runs: readonly RunItem[]): Promise<void> {
  try {
    for (const run of runs) await post<RunDocument>(addressOf(run, "restore"));
    workspace.runs.reload();
    workspace.groups.reload();
    say(`${counted(runs.length, "run")} back`, { tone: "good" });
  } catch (error) {
    sayError(error);
  }
}

export async function tagRuns(workspace: Workspace, runs: readonly RunItem[], tag: string): Promise<void> {
  const some = runs.filter((run) => !run.tags.includes(tag));
  for (const run of some) await editRun(workspace, run, { tags: [...run.tags, tag] });
  say(`Tagged ${counted(some.length, "run")} with ${tag}`, { tone: "good" });
}

/** Compare these runs, or, if none are named, all that the list shows. */
export function compareRuns(workspace: Workspace, ids: readonly string[]): void {
  const { entity, project } = workspace;
  const { runs } = workspace.view.peek();
  const { filter, sort } = runs;
  const baseline = baselineRun(runs);
  const search = new URLSearchParams(ids.length > 0 ? { runs: ids.join(",") } : { filter, sort });
  if (baseline !== null) search.set("base", baseline);
  go({ name: "compare", entity, project }, { search: `?${search.toString().replaceAll("%2C", ",")}` });
}

export function openRun(workspace: Workspace, id: string): void {
  const { entity, project } = workspace;
  workspace.address.write(true);
  go({ name: "run", entity, project, run: id, tab: "" });
}
