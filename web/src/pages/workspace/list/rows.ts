// The run list as rows: runs, or groups within groups with the runs of those that are open. Pure.

import { naturalCompare } from "../../../series/natural";
import type { RunGroup, RunItem } from "../../../server/types";
import { groupId } from "../data/drawn";

export interface RunRow {
  readonly kind: "run";
  readonly id: string;
  readonly run: RunItem;
  readonly depth: number;
}

export interface GroupRow {
  readonly kind: "group";
  /** Tells it from other rows: the values from the outermost group to this one. */
  readonly id: string;
  readonly field: string;
  readonly value: unknown;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly numRuns: number;
  /** The innermost groups in it, by the ids that eyes are opened with. */
  readonly leaves: readonly string[];
  /** Itself, if it is an innermost group. */
  readonly leaf: RunGroup | null;
}

/** The end of a list that goes on: what is shown of what there is. */
export interface MoreRow {
  readonly kind: "more";
  readonly id: string;
  readonly depth: number;
  readonly shown: number;
  readonly total: number | null;
  /** The group whose runs go on, null for the list itself. */
  readonly group: RunGroup | null;
}

export type Row = RunRow | GroupRow | MoreRow;

export function runRows(runs: readonly RunItem[], depth = 0): RunRow[] {
  return runs.map((run) => ({ kind: "run", id: run.id, run, depth }));
}

export interface Members {
  readonly rows: readonly RunItem[];
  readonly total: number | null;
  readonly hasMore: boolean;
}

/** Return the rows of groups. Those toggled are the other way round: innermost ones are closed at first, the others open. */
export function groupRows(
  groups: readonly RunGroup[],
  fields: readonly string[],
  toggled: ReadonlySet<string>,
  membersOf: (group: RunGroup) => Members,
  depth = 0,
  prefix = "",
): Row[] {
  const field = fields[depth] as string;
  const isInnermost = depth === fields.length - 1;
  const parts = new Map<string, RunGroup[]>();
  for (const group of groups) {
    const name = JSON.stringify(group.values[depth] ?? null);
    const known = parts.get(name);
    if (known) known.push(group);
    else parts.set(name, [group]);
  }
  const rows: Row[] = [];
  for (const [name, some] of [...parts].sort(([a], [b]) => compareNames(a, b))) {
    const id = `${prefix}/${name}`;
    const isOpen = toggled.has(id) === isInnermost;
    const [first] = some as [RunGroup];
    rows.push({
      kind: "group",
      id,
      field,
      value: first.values[depth] ?? null,
      depth,
      isOpen,
      numRuns: some.reduce((sum, group) => sum + group.num_runs, 0),
      leaves: some.map((group) => groupId(group.key)),
      leaf: isInnermost ? first : null,
    });
    if (!isOpen) continue;
    if (!isInnermost) {
      rows.push(...groupRows(some, fields, toggled, membersOf, depth + 1, id));
      continue;
    }
    const members = membersOf(first);
    rows.push(...runRows(members.rows, depth + 1));
    if (members.hasMore || members.total === null) {
      const shown = members.rows.length;
      rows.push({ kind: "more", id: `${id}…`, depth: depth + 1, shown, total: members.total, group: first });
    }
  }
  return rows;
}

/** Runs without the field come last. */
function compareNames(a: string, b: string): number {
  if (a === "null" || b === "null") return Number(a === "null") - Number(b === "null");
  const [left, right] = [Number(a), Number(b)];
  return Number.isFinite(left) && Number.isFinite(right) ? left - right : naturalCompare(a, b);
}

/** Return a group's value as people read it. */
export function groupText(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (value === "") return "(empty)";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
