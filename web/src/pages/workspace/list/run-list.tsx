// The run list: filter, controls, rows of any number, and what is said about them.

import type { JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { pathOf } from "../../../runs/path";
import { staleSince } from "../../../runs/stale";
import { count, counted } from "../../../series/format";
import { runColour, runStyles } from "../../../series/palette";
import type { RunItem } from "../../../server/types";
import { Button } from "../../../ui/button";
import { ErrorNote } from "../../../ui/note";
import { VirtualList, type VirtualListHandle } from "../../../ui/virtual";
import type { RunsView } from "../../../view/state";
import { type Column, cellOf, columnOf, deltaText, groupFigure } from "../data/column";
import { groupId, isShown } from "../data/drawn";
import { useWorkspace, type Workspace } from "../workspace";
import { BulkBar } from "./bulk-bar";
import { ListDialogs, useDialogs } from "./dialogs";
import { showOnly, toggleEyes } from "./eyes";
import { FilterField } from "./filter-field";
import { CELL, ROW } from "./grid-roles";
import { GroupRow } from "./group-row";
import { ListHead } from "./list-head";
import { groupMenu, rowActions } from "./row-actions";
import { groupRows, type MoreRow, type Row, runRows } from "./rows";
import { RunRow } from "./run-row";
import { useSparks } from "./sparks";
import { Toolbar } from "./toolbar";
import { useKeptPlace } from "./use-kept-place";
import { useListKeys } from "./use-list-keys";
import "./run-list.css";

export function RunList(): JSX.Element {
  const workspace = useWorkspace();
  const filter = useRef<HTMLInputElement>(null);
  return (
    <section class="run-list" aria-label="Runs">
      <div class="list-head">
        <FilterField inputRef={filter} />
        <div class="list-bar">
          <Counts workspace={workspace} />
          <Toolbar />
        </div>
      </div>
      <Rows workspace={workspace} filterRef={filter} />
      <BulkBar workspace={workspace} />
    </section>
  );
}

function Counts({ workspace }: { workspace: Workspace }): JSX.Element {
  const shown = workspace.runs.rows.value.length;
  const total = workspace.runs.total.value;
  const groups = workspace.groups.total.value;
  const pending = workspace.runs.pending.value;
  if (total === null) return <span class="list-count quiet">Loading runs</span>;
  if (workspace.isGrouped.value) {
    return (
      <span class="list-count" role="status">
        <strong>{counted(groups ?? 0, "group")}</strong> <span class="quiet">of {counted(total, "run")}</span>
      </span>
    );
  }
  return (
    <span class="list-count" role="status">
      <strong>{counted(total, "run")}</strong>
      {shown < total && <span class="quiet"> · showing {count(shown)}</span>}
      {pending > 0 && <span class="quiet"> · working out the order of {count(pending)}</span>}
    </span>
  );
}

/** As CSS has it: --row. */
function useRowHeight(): number {
  const [height, setHeight] = useState(32);
  useLayoutEffect(() => {
    const read = (): void => {
      setHeight(
        Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 32,
      );
    };
    read();
    const watcher = new MutationObserver(read);
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-density"] });
    return () => watcher.disconnect();
  }, []);
  return height;
}

function useRows(workspace: Workspace, toggledGroups: ReadonlySet<string>): readonly Row[] {
  const listed = workspace.listed.value;
  const groups = workspace.groups.groups.value;
  const fields = workspace.view.value.runs.group;
  const total = workspace.runs.total.value;
  const hasMore = workspace.runs.hasMore.value;
  const groupTotal = workspace.groups.total.value;
  const plain = useMemo(() => {
    const rows: Row[] = runRows(listed);
    if (hasMore) rows.push({ kind: "more", id: "…", depth: 0, shown: listed.length, total, group: null });
    return rows;
  }, [listed, hasMore, total]);
  if (fields.length === 0) return plain;
  // Open groups are read while rendering, so that their runs appear as they come.
  const rows = groupRows(groups, fields, toggledGroups, (group) => {
    const source = workspace.groups.members(group.key);
    return { rows: source.rows.value, total: source.total.value, hasMore: source.hasMore.value };
  });
  if (workspace.groups.hasMore.value) {
    rows.push({ kind: "more", id: "…", depth: 0, shown: groups.length, total: groupTotal, group: null });
  }
  return rows;
}

function Rows({
  workspace,
  filterRef,
}: {
  workspace: Workspace;
  filterRef: { current: HTMLInputElement | null };
}): JSX.Element {
  const { view, drawn } = workspace;
  const { runs: runsView } = view.value;
  const [toggledGroups, setToggled] = useState<ReadonlySet<string>>(new Set());
  const rows = useRows(workspace, toggledGroups);
  const [range, setRange] = useState<readonly [number, number]>([0, 30]);
  const handle = useRef<VirtualListHandle>(null);
  const rowHeight = useRowHeight();
  const columns = useMemo(() => workspace.columns.value.map(columnOf), [workspace.columns.value]);
  const dialogs = useDialogs(workspace, rows);
  const actions = useMemo(() => rowActions(workspace, dialogs.open), [workspace, dialogs.open]);
  const toggleGroup = useCallback((id: string) => {
    setToggled((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  useListKeys(workspace, rows, handle, { filterRef, dialogs: dialogs.open, toggleGroup });

  const visible = useMemo(
    () => rows.slice(range[0], range[1] + 1).flatMap((row) => (row.kind === "run" ? [row.run] : [])),
    [rows, range],
  );
  const sparkKey = workspace.sparkKey.value;
  const sparks = useSparks(workspace, visible, sparkKey);
  useEffect(() => {
    const keys = [...new Set(columns.flatMap((column) => (column.key === null ? [] : [column.key])))];
    const base = runsView.baseline === null ? undefined : workspace.find(runsView.baseline);
    workspace.digests.want(base ? [base, ...visible] : visible, keys);
  }, [workspace, visible, columns, runsView.baseline]);
  void workspace.digests.round.value; // figures that have come

  const keep = useKeptPlace(rows, handle, rowHeight);
  const onRange = useCallback(
    (first: number, last: number) => {
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
      keep(first);
    },
    [keep],
  );
  useEffect(() => {
    const end = rows[Math.min(range[1] + 20, rows.length - 1)];
    if (end?.kind === "more") loadMore(workspace, end);
  }, [workspace, rows, range]);

  const drawnIds = useMemo(
    () =>
      new Set([
        ...drawn.value.runs.map((run) => run.id),
        ...(drawn.value.groups ?? []).map((group) => group.id),
      ]),
    [drawn.value],
  );
  const dashes = useMemo(() => runStyles(drawn.value.runs.map((run) => run.id)), [drawn.value]);
  const selected = useMemo(() => new Set(runsView.selected), [runsView.selected]);
  const cursor = workspace.cursor.value;
  const nowMs = workspace.now.value;
  const bases = columns.map((column) => baseOf(workspace, column));

  const cellsOf = (run: RunItem) =>
    columns.map((column, i) => {
      const cell = cellOf(column, run, digestOf(workspace, column, run), nowMs);
      const base = runsView.baseline === run.id ? null : (bases[i] ?? null);
      const delta = base !== null && cell.value !== null ? deltaText(cell.value, base) : "";
      return {
        ...cell,
        name: column.text,
        delta: delta.split(" (")[0] as string,
        title: delta ? `${cell.title}\n${delta} against the baseline` : cell.title,
      };
    });

  const show = (index: number): JSX.Element => {
    const row = rows[index] as Row;
    if (row.kind === "more") return <More row={row} onMore={() => loadMore(workspace, row)} />;
    if (row.kind === "group") {
      const isOn = row.leaves.some((id) => isShown(id, runsView));
      return (
        <GroupRow
          row={row}
          style={row.leaf ? workspace.groupStyles.value.get(groupId(row.leaf.key)) : undefined}
          isShown={isOn}
          isDrawn={row.leaves.some((id) => drawnIds.has(id))}
          isAt={cursor === row.id}
          isBaseline={row.leaf !== null && row.leaf === workspace.baselineGroup.value}
          columns={columns}
          bases={bases}
          menu={() => groupMenu(workspace, row)}
          onToggle={() => {
            workspace.cursor.value = row.id;
            toggleGroup(row.id);
          }}
          onEye={() => workspace.changeRuns(toggleEyes(runsView, row.leaves))}
          onOnly={() => workspace.changeRuns(showOnly(row.leaves))}
        />
      );
    }
    const { run } = row;
    return (
      <RunRow
        run={run}
        depth={row.depth}
        colour={runColour(run.id)}
        dash={dashes.get(run.id)?.dash ?? NO_DASH}
        isShown={isShown(run.id, runsView) || (row.depth > 0 && !runsView.hidden.includes(run.id))}
        isDrawn={drawnIds.has(run.id)}
        isPinned={runsView.pinned.includes(run.id)}
        isBaseline={runsView.baseline === run.id}
        isSelected={selected.has(run.id)}
        isAt={cursor === run.id}
        editing={dialogs.editing?.id === run.id ? dialogs.editing.what : null}
        staleSince={staleSince(run, nowMs)}
        nowMs={nowMs}
        cells={cellsOf(run)}
        spark={sparks.get(pathOf(run))}
        sparkKey={sparkKey}
        actions={actions}
      />
    );
  };
  const problem = workspace.runs.problem.value ?? workspace.groups.problem.value;
  return (
    <>
      {problem && <ErrorNote error={problem} onRetry={() => workspace.runs.reload()} />}
      <VirtualList
        class="list-rows"
        label="Runs"
        role="grid"
        handle={handle}
        count={rows.length}
        rowHeight={rowHeight}
        row={show}
        keyOf={(index) => (rows[index] as Row).id}
        onRange={onRange}
        head={<ListHead workspace={workspace} columns={columns} />}
        attributes={{
          "aria-rowcount": rows.length,
          "aria-activedescendant": cursor === null ? undefined : `row-${cursor}`,
          style: {
            "--columns": columns.length,
            "--cell": `${cellWidth(runsView)}px`,
          } as JSX.CSSProperties,
        }}
      />
      <ListDialogs workspace={workspace} dialogs={dialogs} />
    </>
  );
}

/** Deltas, deviations, and the steps of extremes need room beside the values. */
export function cellWidth({ baseline, group, columns }: RunsView): number {
  const hasStep = columns.some((column) => /^(min|max)\(/.test(column));
  return baseline !== null || group.length > 0 || hasStep ? 128 : 80;
}

const NO_DASH: readonly number[] = [];

function digestOf(workspace: Workspace, column: Column, run: RunItem) {
  return column.key === null ? undefined : workspace.digests.find(run, column.key);
}

/** What the values of a column are compared with: those of the baseline, or the mean of a group. */
function baseOf(workspace: Workspace, column: Column): number | null {
  const group = workspace.baselineGroup.value;
  if (group !== undefined) return groupFigure(column, group)?.mean ?? null;
  const id = workspace.view.value.runs.baseline;
  const run = id === null ? undefined : workspace.find(id);
  return run ? cellOf(column, run, digestOf(workspace, column, run), workspace.now.value).value : null;
}

function loadMore(workspace: Workspace, row: MoreRow): void {
  if (row.group !== null) workspace.groups.members(row.group.key).more();
  else if (workspace.isGrouped.peek()) workspace.groups.more();
  else workspace.runs.more();
}

function More({ row, onMore }: { row: MoreRow; onMore: () => void }): JSX.Element {
  return (
    <div class="row row-more" {...ROW}>
      <span {...CELL} style={{ paddingLeft: `${row.depth * 14}px` }}>
        {row.total === null ? "Loading" : `Showing ${count(row.shown)} of ${count(row.total)}`}
        {row.total !== null && (
          <Button kind="quiet" onClick={onMore}>
            Show more
          </Button>
        )}
      </span>
    </div>
  );
}
