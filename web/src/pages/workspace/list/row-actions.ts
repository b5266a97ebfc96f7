// What a row of the list does when it is pointed at, and its menu.

import type { RunItem } from "../../../server/types";
import type { MenuItem } from "../../../ui/menu";
import { toggled } from "../../../view/toggled";
import { baselineRun, groupId } from "../data/drawn";
import type { Workspace } from "../workspace";
import { compareRuns, deleteRuns, editRun, openRun } from "./actions";
import { showOnly, toggleEyes } from "./eyes";
import type { GroupRow } from "./rows";

export type Editable = "name" | "tags" | "notes";

export interface RowActions {
  point(run: RunItem, event: MouseEvent): void;
  select(run: RunItem, isRange: boolean): void;
  eye(run: RunItem): void;
  only(run: RunItem): void;
  /** Begin to change something in its place; null ends that. */
  edit(run: RunItem | null, what: Editable): void;
  /** Keep what was typed. */
  keep(run: RunItem, what: Editable, text: string): void;
  menu(run: RunItem): MenuItem[];
}

export interface RowDialogs {
  /** Begin to change something in its place; null ends that. */
  beginEdit(run: RunItem | null, what: Editable): void;
  edit(run: RunItem): void;
  confirmStop(run: RunItem): void;
  /** Runs from the cursor to a run, in the order of the list. */
  between(to: RunItem): readonly string[];
}

/** Return the tags of a text that parts them by commas, each once. */
export function tagsOf(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter(Boolean))];
}

export function togglePin(workspace: Workspace, id: string): void {
  workspace.changeRuns({ pinned: toggled(workspace.view.peek().runs.pinned, id) });
}

export function toggleBaseline(workspace: Workspace, id: string): void {
  const { baseline } = workspace.view.peek().runs;
  workspace.changeRuns({ baseline: baseline === id ? null : id });
}

/** What a group is called as a baseline; only innermost ones are drawn, and can be one. */
export function baselineOfGroup({ leaf }: GroupRow): string | undefined {
  return leaf ? groupId(leaf.key) : undefined;
}

function baselineItem(workspace: Workspace, id: string): MenuItem {
  return {
    title: workspace.view.peek().runs.baseline === id ? "No baseline" : "Use as baseline",
    icon: "compare",
    keys: "B",
    run: () => toggleBaseline(workspace, id),
  };
}

export function groupMenu(workspace: Workspace, row: GroupRow): MenuItem[] {
  const only = () => workspace.changeRuns(showOnly(row.leaves));
  const items: MenuItem[] = [{ title: "Show only this", icon: "eye", run: only }];
  const id = baselineOfGroup(row);
  if (id !== undefined) items.push(baselineItem(workspace, id));
  return items;
}

export function rowActions(workspace: Workspace, dialogs: RowDialogs): RowActions {
  const runsView = () => workspace.view.peek().runs;
  const actions: RowActions = {
    point(run, event) {
      if ((event.target as Element).closest("a, button, input")) return;
      if (event.shiftKey) actions.select(run, true);
      else if (event.ctrlKey || event.metaKey) actions.select(run, false);
      workspace.cursor.value = run.id;
    },
    select(run, isRange) {
      const { selected } = runsView();
      const ids = isRange ? dialogs.between(run) : [];
      const next = isRange ? [...new Set([...selected, ...ids])] : toggled(selected, run.id);
      workspace.cursor.value = run.id;
      workspace.changeRuns({ selected: next }, { replace: true });
    },
    eye: (run) => workspace.changeRuns(toggleEyes(runsView(), [run.id])),
    only: (run) => workspace.changeRuns(showOnly([run.id])),
    edit: (run, what) => dialogs.beginEdit(run, what),
    keep(run, what, text) {
      dialogs.beginEdit(null, what);
      if (what === "tags") void editRun(workspace, run, { tags: tagsOf(text) });
      else if (what === "notes") void editRun(workspace, run, { notes: text });
      else if (text.trim() !== "") void editRun(workspace, run, { name: text.trim() });
    },
    menu(run) {
      const { pinned, selected } = runsView();
      const baseline = baselineRun(runsView());
      const items: MenuItem[] = [
        { title: "Open", icon: "expand", keys: "Enter", run: () => openRun(workspace, run.id) },
        { title: "Show only this", icon: "eye", run: () => actions.only(run) },
        {
          title: pinned.includes(run.id) ? "Unpin" : "Pin to the top",
          icon: "pin",
          keys: "P",
          run: () => togglePin(workspace, run.id),
        },
        baselineItem(workspace, run.id),
        { title: "Rename", icon: "edit", keys: "F2", line: true, run: () => dialogs.beginEdit(run, "name") },
        { title: "Edit tags and notes", icon: "tag", run: () => dialogs.edit(run) },
      ];
      const others = [...new Set([...(selected.length ? selected : [baseline ?? ""]), run.id])].filter(
        Boolean,
      );
      if (others.length > 1) {
        items.push({
          title: `Compare ${others.length} runs`,
          icon: "compare",
          run: () => compareRuns(workspace, others),
        });
      }
      if (run.state === "running") {
        items.push({ title: "Stop the run", icon: "stop", line: true, run: () => dialogs.confirmStop(run) });
      }
      items.push({
        title: "Delete",
        icon: "trash",
        isDanger: true,
        line: run.state !== "running",
        run: () => void deleteRuns(workspace, [run]),
      });
      return items;
    },
  };
  return actions;
}
