// The rows of a table: only those in view are in the document. Columns can be sorted, filtered and made wider.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { number, percent } from "../../../series/format";
import { Dialog } from "../../../ui/dialog";
import { Icon } from "../../../ui/icon";
import { VirtualList } from "../../../ui/virtual";
import { CellView } from "./cell";
import type { Filters, Group, Sort } from "./shape";
import { meanOf } from "./shape";
import { type Column, cellText, isNumeric, type TableData } from "./table";

export interface GridProps {
  table: TableData;
  rows: Uint32Array;
  /** Shown instead of rows; opening one shows its rows. */
  groups: readonly Group[] | null;
  groupBy: string;
  sort: Sort | null;
  filters: Filters;
  onSort: (sort: Sort | null) => void;
  onFilter: (column: string, text: string) => void;
}

const NARROW = 34;
const WITH_PICTURES = 76;
const NUMBER_WIDTH = 56;
const SLIM = 64;

/** A table whose rows come and go cannot be a table element; these say what it is. */
const AS = {
  row: { role: "row" },
  columnheader: { role: "columnheader" },
  rowheader: { role: "rowheader" },
  gridcell: { role: "gridcell" },
} as const;

type Shown = { row: number } | { group: Group };

export function Grid(props: GridProps): JSX.Element {
  const { table, rows, groups } = props;
  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({});
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [cell, setCell] = useState<{ column: Column; row: number } | null>(null);
  const hasPictures = table.columns.some((column) => column.kind === "image-file");
  const widthOf = (column: Column): number => widths[column.name] ?? firstWidth(column);
  const columns = `${NUMBER_WIDTH}px ${table.columns.map((column) => `${widthOf(column)}px`).join(" ")}`;
  const shown: Shown[] = [];
  if (groups !== null) {
    for (const group of groups) {
      shown.push({ group });
      if (open.has(group.name)) for (const row of group.rows) shown.push({ row });
    }
  }
  const length = groups === null ? rows.length : shown.length;
  const at = (index: number): Shown =>
    groups === null ? { row: rows[index] as number } : (shown[index] as Shown);
  return (
    <>
      <VirtualList
        class="grid virtual-wide"
        label="Rows of the table"
        role="grid"
        count={length}
        rowHeight={hasPictures ? WITH_PICTURES : NARROW}
        attributes={{ "aria-rowcount": length + 1, "aria-colcount": table.columns.length + 1 }}
        head={
          <div class="grid-head" {...AS.row} style={{ gridTemplateColumns: columns }}>
            <span class="grid-cell grid-number" {...AS.columnheader}>
              #
            </span>
            {table.columns.map((column) => (
              <Head
                key={column.name}
                column={column}
                width={widthOf(column)}
                sort={props.sort}
                filter={props.filters[column.name] ?? ""}
                onSort={props.onSort}
                onFilter={props.onFilter}
                onWidth={(width) => setWidths({ ...widths, [column.name]: Math.max(SLIM, width) })}
              />
            ))}
          </div>
        }
        row={(index) => {
          const what = at(index);
          if ("group" in what) {
            const { group } = what;
            return (
              <GroupRow
                group={group}
                table={table}
                columns={columns}
                by={props.groupBy}
                isOpen={open.has(group.name)}
                onToggle={() => {
                  const next = new Set(open);
                  if (!next.delete(group.name)) next.add(group.name);
                  setOpen(next);
                }}
              />
            );
          }
          const { row } = what;
          return (
            <div
              class="grid-row"
              {...{ ...AS.row, "aria-rowindex": index + 2 }}
              style={{ gridTemplateColumns: columns }}
            >
              <span class="grid-cell grid-number" {...AS.rowheader}>
                {row}
              </span>
              {table.columns.map((column) => (
                <span
                  key={column.name}
                  class={`grid-cell${isNumeric(column.kind) ? " grid-end" : ""}`}
                  {...AS.gridcell}
                >
                  <CellView
                    cell={column.cells[row]}
                    kind={column.kind}
                    onOpen={() => setCell({ column, row })}
                  />
                </span>
              ))}
            </div>
          );
        }}
      />
      {cell !== null && (
        <Dialog
          title={`${cell.column.name}, row ${cell.row}`}
          class="cell-dialog"
          onClose={() => setCell(null)}
        >
          <div class="cell-whole">
            <CellView cell={cell.column.cells[cell.row]} kind={cell.column.kind} isWhole />
          </div>
        </Dialog>
      )}
    </>
  );
}

function firstWidth(column: Column): number {
  if (column.kind === "image-file") return 110;
  if (isNumeric(column.kind) || column.kind === "boolean") return Math.max(96, 40 + column.name.length * 8);
  let longest = column.name.length + 3;
  for (let row = 0; row < Math.min(column.cells.length, 50); row++) {
    longest = Math.max(longest, cellText(column.cells[row]).length);
  }
  return Math.max(96, Math.min(420, 24 + longest * 7));
}

function Head(props: {
  column: Column;
  width: number;
  sort: Sort | null;
  filter: string;
  onSort: GridProps["onSort"];
  onFilter: GridProps["onFilter"];
  onWidth: (width: number) => void;
}): JSX.Element {
  const { column, sort, filter } = props;
  const from = useRef<{ x: number; width: number } | null>(null);
  const isSorted = sort?.column === column.name;
  const next = (): Sort | null => {
    if (!isSorted) return { column: column.name, isDown: isNumeric(column.kind) };
    const isFirst = sort.isDown === isNumeric(column.kind);
    return isFirst ? { column: column.name, isDown: !sort.isDown } : null;
  };
  return (
    <div
      class="grid-cell grid-title"
      {...{
        ...AS.columnheader,
        "aria-sort": isSorted ? (sort.isDown ? "descending" : "ascending") : "none",
      }}
    >
      <button
        type="button"
        class="grid-sort"
        title={`${column.name} (${column.kind})`}
        onClick={() => props.onSort(next())}
      >
        <span class="cut">{column.name}</span>
        {isSorted && <span aria-hidden="true">{sort.isDown ? "↓" : "↑"}</span>}
      </button>
      <input
        class="grid-filter"
        aria-label={`Filter ${column.name}`}
        placeholder={isNumeric(column.kind) ? "> 0.5, 1..3" : "Filter"}
        value={filter}
        spellcheck={false}
        onInput={(event) => props.onFilter(column.name, event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && filter) {
            event.stopPropagation();
            props.onFilter(column.name, "");
          }
        }}
      />
      <span
        class="grid-edge"
        aria-hidden="true"
        onPointerDown={(event) => {
          from.current = { x: event.clientX, width: props.width };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (from.current) props.onWidth(from.current.width + event.clientX - from.current.x);
        }}
        onPointerUp={() => {
          from.current = null;
        }}
      />
    </div>
  );
}

function GroupRow(props: {
  group: Group;
  table: TableData;
  columns: string;
  by: string;
  isOpen: boolean;
  onToggle: () => void;
}): JSX.Element {
  const { group, table, isOpen } = props;
  return (
    <div class="grid-row grid-group" {...AS.row} style={{ gridTemplateColumns: props.columns }}>
      <span class="grid-cell grid-number" {...AS.gridcell}>
        <button
          type="button"
          class="grid-toggle"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Close" : "Open"} ${group.name || "(missing)"}`}
          onClick={props.onToggle}
        >
          <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
          {group.rows.length}
        </button>
      </span>
      {table.columns.map((column) => {
        const mean =
          isNumeric(column.kind) || column.kind === "boolean" ? meanOf(column.cells, group.rows) : null;
        const isShare = column.kind === "boolean";
        return (
          <span key={column.name} class={`grid-cell${mean === null ? "" : " grid-end"}`} {...AS.gridcell}>
            {mean !== null && (
              <span class="quiet" title={isShare ? "Share that is true" : "Mean"}>
                {isShare ? percent(mean) : `⌀ ${number(mean)}`}
              </span>
            )}
            {column.name === props.by && <strong class="cut">{group.name || "(missing)"}</strong>}
          </span>
        );
      })}
    </div>
  );
}
