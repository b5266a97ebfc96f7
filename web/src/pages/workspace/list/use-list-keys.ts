// The keys of the run list, as commands: they work wherever the focus is, and stand in the palette and the sheet.

import { useMemo, useRef } from "preact/hooks";
import { type Command, useCommands } from "../../../keys/commands";
import type { VirtualListHandle } from "../../../ui/virtual";
import { toggled } from "../../../view/toggled";
import type { Workspace } from "../workspace";
import { compareRuns, deleteRuns, openRun } from "./actions";
import { showAll, showNone, showOnly, toggleEyes } from "./eyes";
import { baselineOfGroup, type RowDialogs, toggleBaseline, togglePin } from "./row-actions";
import type { Row } from "./rows";

export interface ListKeysOptions {
  readonly filterRef: { current: HTMLInputElement | null };
  readonly dialogs: RowDialogs;
  readonly toggleGroup: (id: string) => void;
}

const GROUP = "Runs";
const A_RUN = "of the row that J and K have come to";

export function useListKeys(
  workspace: Workspace,
  rows: readonly Row[],
  handle: { current: VirtualListHandle | null },
  { filterRef, dialogs, toggleGroup }: ListKeysOptions,
): void {
  const latest = useRef(rows);
  latest.current = rows;
  const commands = useMemo(() => {
    const at = (): Row | undefined => latest.current.find((row) => row.id === workspace.cursor.peek());
    const move = (by: number): void => {
      const all = latest.current;
      const from = all.findIndex((row) => row.id === workspace.cursor.peek());
      let to = from < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, from + by));
      if (all[to]?.kind === "more") to = Math.max(0, to - 1);
      const row = all[to];
      if (!row) return;
      workspace.cursor.value = row.id;
      handle.current?.show(to);
    };
    const runAt = () => {
      const row = at();
      return row?.kind === "run" ? row.run : undefined;
    };
    /** A run, or a group that is drawn as one line: what can be compared with. */
    const comparable = (): string | undefined => {
      const row = at();
      return row?.kind === "group" ? baselineOfGroup(row) : runAt()?.id;
    };
    const hasRun = (): boolean => runAt() !== undefined;
    const withRun = (act: (run: NonNullable<ReturnType<typeof runAt>>) => void) => () => {
      const run = runAt();
      if (run) act(run);
    };
    /** Buttons and links take Enter and Space themselves. */
    const isFree = (): boolean =>
      !document.activeElement?.closest("button, a, input, select, [role=application]");
    const runsView = () => workspace.view.peek().runs;
    const list: Command[] = [
      { id: "runs.next", title: "Next run", group: GROUP, keys: ["j"], isHidden: true, run: () => move(1) },
      {
        id: "runs.previous",
        title: "Previous run",
        group: GROUP,
        keys: ["k"],
        isHidden: true,
        run: () => move(-1),
      },
      {
        id: "runs.eye",
        title: "Show or hide the run",
        group: GROUP,
        keys: "space",
        needs: A_RUN,
        when: () => at() !== undefined && isFree(),
        run: () => {
          const row = at();
          if (row?.kind === "run") workspace.changeRuns(toggleEyes(runsView(), [row.id]));
          else if (row?.kind === "group") workspace.changeRuns(toggleEyes(runsView(), row.leaves));
        },
      },
      {
        id: "runs.open",
        title: "Open the run, or open and close the group",
        group: GROUP,
        keys: "enter",
        needs: A_RUN,
        when: () => at() !== undefined && isFree(),
        run: () => {
          const row = at();
          if (row?.kind === "run") openRun(workspace, row.id);
          else if (row?.kind === "group") toggleGroup(row.id);
        },
      },
      {
        id: "runs.only",
        title: "Show only this run",
        group: GROUP,
        keys: "o",
        needs: A_RUN,
        when: hasRun,
        run: withRun((run) => workspace.changeRuns(showOnly([run.id]))),
      },
      {
        id: "runs.all",
        title: "Show all runs",
        group: GROUP,
        keys: "a",
        run: () => workspace.changeRuns(showAll()),
      },
      {
        id: "runs.none",
        title: "Show no run",
        group: GROUP,
        keys: "shift+a",
        run: () => workspace.changeRuns(showNone()),
      },
      {
        id: "runs.pin",
        title: "Pin the run",
        group: GROUP,
        keys: "p",
        needs: A_RUN,
        when: hasRun,
        run: withRun((run) => togglePin(workspace, run.id)),
      },
      {
        id: "runs.baseline",
        title: "Use the run or group as baseline",
        group: GROUP,
        keys: "b",
        needs: A_RUN,
        when: () => comparable() !== undefined,
        run: () => {
          const id = comparable();
          if (id !== undefined) toggleBaseline(workspace, id);
        },
      },
      {
        id: "runs.select",
        title: "Select the run",
        group: GROUP,
        keys: "m",
        words: "mark bulk",
        needs: A_RUN,
        when: hasRun,
        run: withRun((run) =>
          workspace.changeRuns({ selected: toggled(runsView().selected, run.id) }, { replace: true }),
        ),
      },
      {
        id: "runs.rename",
        title: "Rename the run",
        group: GROUP,
        keys: "f2",
        needs: A_RUN,
        when: hasRun,
        run: withRun((run) => dialogs.beginEdit(run, "name")),
      },
      {
        id: "runs.edit",
        title: "Edit tags and notes of the run",
        group: GROUP,
        keys: "t",
        needs: A_RUN,
        when: hasRun,
        run: withRun((run) => dialogs.edit(run)),
      },
      {
        id: "runs.stop",
        title: "Stop the run",
        group: GROUP,
        when: () => runAt()?.state === "running",
        run: withRun((run) => dialogs.confirmStop(run)),
      },
      {
        id: "runs.compare",
        title: "Compare the selected runs, or all in the list",
        group: GROUP,
        keys: "c",
        run: () => compareRuns(workspace, runsView().selected),
      },
      {
        id: "runs.delete",
        title: "Delete the selected runs",
        group: GROUP,
        when: () => runsView().selected.length > 0,
        run: () => {
          const runs = runsView()
            .selected.map((id) => workspace.find(id))
            .filter((run) => run !== undefined);
          void deleteRuns(workspace, runs);
        },
      },
      {
        id: "runs.filter",
        title: "Filter runs",
        group: GROUP,
        keys: "shift+f",
        run: () => filterRef.current?.focus(),
      },
      {
        id: "runs.group",
        title: "Group runs",
        group: GROUP,
        keys: "g",
        words: "by config",
        run: () => openTool("group"),
      },
      { id: "runs.sort", title: "Sort runs", group: GROUP, run: () => openTool("sort") },
      { id: "runs.columns", title: "Choose columns", group: GROUP, run: () => openTool("columns") },
    ];
    return list;
  }, [workspace, handle, filterRef, dialogs, toggleGroup]);
  useCommands(commands);
}

function openTool(name: string): void {
  document.querySelector<HTMLButtonElement>(`[data-tool="${name}"]`)?.click();
}
