// One section of the differences (config, environment, …) as a tree: a column per run while there are few, else the
// different values with the runs that have them.

import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, counted, number } from "../../series/format";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { Badge } from "../../ui/note";
import { CellView } from "./cell";
import { useComparison } from "./comparison";
import {
  ABSENT,
  cellText,
  type DiffNode,
  type DiffRow,
  diffRows,
  diffTree,
  leavesOf,
  pruned,
  type Share,
  valuesOf,
} from "./diff-tree";
import { ExportMenu } from "./export-menu";
import { RunName } from "./run-name";
import { Scroller } from "./scroller";
import type { TextTable } from "./table-text";

/** Runs that still get a column each unless somebody wants otherwise. */
export const FEW_RUNS = 6;
const MANY_ROWS = 300;

export interface DiffSectionProps {
  readonly id: string;
  readonly title: string;
  readonly maps: readonly Readonly<Record<string, unknown>>[];
  readonly ignore: RegExp | null;
  /** Said beside how many keys differ. */
  readonly note?: string;
  /** Said when nobody has any such key. */
  readonly none: string;
  readonly children?: ComponentChildren;
}

export function DiffSection(props: DiffSectionProps): JSX.Element {
  const { id, title, maps, ignore, note = "", none, children } = props;
  const { state, change, runs, label } = useComparison();
  const [isWhole, setWhole] = useState(false);
  const tree = useMemo(() => diffTree(maps), [maps]);
  const kept = useMemo(
    () => pruned(tree, { all: state.all, ignore, section: id }),
    [tree, state.all, ignore, id],
  );
  const prefix = `${id}.`;
  const closed = useMemo(
    () =>
      new Set(state.closed.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length))),
    [state.closed, prefix],
  );
  const rows = useMemo(() => diffRows(kept.nodes, closed), [kept, closed]);
  const shown = isWhole ? rows : rows.slice(0, MANY_ROWS);
  const isOpen = !state.closed.includes(id);
  const toggle = (path: string): void =>
    change({
      closed: state.closed.includes(path)
        ? state.closed.filter((one) => one !== path)
        : [...state.closed, path],
    });
  const isColumns = state.layout === "runs" || (state.layout === "auto" && runs.length <= FEW_RUNS);
  const total = leavesOf(tree).length;
  const differing = leavesOf(kept.nodes).filter((leaf) => leaf.differs).length;
  const table = (): TextTable => ({
    title: `${title}: differences`,
    head: ["key", ...runs.map(label)],
    rows: leavesOf(kept.nodes).map((leaf) => [leaf.path, ...(leaf.cells ?? []).map(cellText)]),
  });
  return (
    <section class="diff-section" aria-label={title}>
      <div class="diff-head">
        <button type="button" class="diff-toggle" aria-expanded={isOpen} onClick={() => toggle(id)}>
          <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={14} />
          <h2>{title}</h2>
        </button>
        <span class="quiet">
          {total === 0 ? none : summaryOf(differing, total)}
          {kept.ignored > 0 && `, ${count(kept.ignored)} ignored`}
          {note && `; ${note}`}
        </span>
        {rows.length > 0 && <ExportMenu title={`${title} differences`} table={table} />}
      </div>
      {isOpen && rows.length > 0 && (
        <Scroller label={`${title}, by key`}>
          <table class={`diff-table${isColumns ? " diff-columns" : ""}`}>
            <thead>
              <tr>
                <th scope="col">Key</th>
                {isColumns ? (
                  runs.map((run) => (
                    <th key={run.id} scope="col">
                      <RunName run={run} />
                    </th>
                  ))
                ) : (
                  <th scope="col">Values and runs that have them</th>
                )}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <Row
                  key={row.node.path}
                  row={row}
                  isColumns={isColumns}
                  onToggle={() => toggle(prefix + row.node.path)}
                />
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
      {isOpen && shown.length < rows.length && (
        <p class="compare-note">
          Showing {count(shown.length)} of {count(rows.length)} rows.{" "}
          <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
      {isOpen && children}
    </section>
  );
}

function Row({
  row,
  isColumns,
  onToggle,
}: {
  row: DiffRow;
  isColumns: boolean;
  onToggle: () => void;
}): JSX.Element {
  const { runs, base, brushed } = useComparison();
  const { node, depth, isOpen } = row;
  const inset = { paddingLeft: `${12 + depth * 16}px` };
  if (node.cells === null) {
    return (
      <tr class="diff-branch">
        <th scope="row" style={inset} colSpan={isColumns ? runs.length + 1 : 2}>
          <button type="button" class="diff-toggle" aria-expanded={isOpen} onClick={onToggle}>
            <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
            {node.name}
          </button>
          {!isOpen && <span class="quiet"> {counted(node.numLeaves, "key")}</span>}
        </th>
      </tr>
    );
  }
  const baseCell = node.cells[runs.indexOf(base)];
  return (
    <tr class={node.differs ? "" : "diff-same"}>
      <th scope="row" style={inset} title={node.path}>
        <span class="diff-key">{node.name}</span>
      </th>
      {isColumns ? (
        node.cells.map((cell, i) => {
          const run = runs[i];
          const isOther = run !== base && cellText(cell) !== cellText(baseCell);
          const isDim = brushed !== null && run !== undefined && !brushed.has(run.id);
          return (
            <td key={run?.id} class={`${isOther ? "diff-other" : ""}${isDim ? " compare-dim" : ""}`}>
              <CellView cell={cell} base={run === base ? undefined : baseCell} />
            </td>
          );
        })
      ) : (
        <td>
          <Values node={node} baseCell={baseCell} />
        </td>
      )}
    </tr>
  );
}

function summaryOf(differing: number, total: number): string {
  if (differing === 0)
    return total === 1 ? "1 key, the same in all" : `${count(total)} keys, the same in all`;
  return `${count(differing)} of ${counted(total, "key")} differ${differing === 1 ? "s" : ""}`;
}

const MOST_VALUES = 8;

/** The different values; a click brushes the runs that have one. */
function Values({ node, baseCell }: { node: DiffNode; baseCell: unknown }): JSX.Element {
  const { runs, label, brush, brushed } = useComparison();
  const [isAll, setAll] = useState(false);
  const values = useMemo(() => valuesOf(node.cells ?? []), [node.cells]);
  const shown = isAll ? values : values.slice(0, MOST_VALUES);
  const idsOf = (share: Share): string[] => share.runs.map((i) => runs[i]?.id ?? "");
  const spread = spreadOf(values);
  return (
    <div class="diff-values">
      {spread && <span class="quiet">{spread}</span>}
      {shown.map((share) => {
        const ids = idsOf(share);
        const isChosen =
          brushed !== null && brushed.size === ids.length && ids.every((id) => brushed.has(id));
        const names = share.runs.map((i) => (runs[i] ? label(runs[i]) : ""));
        const text = share.cell === ABSENT ? "not set" : cellText(share.cell) || "empty text";
        return (
          <button
            key={text}
            type="button"
            class={`diff-chip${share.cell === baseCell ? " diff-chip-base" : ""}`}
            aria-pressed={isChosen}
            title={`${text}\n${names.slice(0, 12).join(", ")}${names.length > 12 ? ` and ${names.length - 12} more` : ""}`}
            onClick={() => brush(isChosen ? null : new Set(ids))}
          >
            <span class={`cut ${share.cell === ABSENT ? "quiet" : "mono"}`}>{text}</span>
            <Badge>{count(share.runs.length)}</Badge>
          </button>
        );
      })}
      {values.length > MOST_VALUES && (
        <Button kind="quiet" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? "Show fewer" : `${count(values.length - MOST_VALUES)} more values`}
        </Button>
      )}
    </div>
  );
}

/** "0.001 to 0.3" where there are many numbers. */
function spreadOf(values: readonly Share[]): string | null {
  const numbers = values.map(({ cell }) => cell).filter((cell) => typeof cell === "number");
  if (values.length <= MOST_VALUES || numbers.length < values.length - 1) return null;
  const low = numbers.reduce((a, b) => Math.min(a, b));
  const high = numbers.reduce((a, b) => Math.max(a, b));
  return `${number(low)} to ${number(high)}`;
}
