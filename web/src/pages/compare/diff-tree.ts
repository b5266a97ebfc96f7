// What differs between runs, n-way, as a tree: nested keys are branches, lists and values leaves. Pure.

import { naturalCompare } from "../../series/natural";

/** A value of a run, or that it has none. */
export const ABSENT = Symbol("absent");
export type Cell = unknown;

export interface DiffNode {
  readonly name: string;
  /** Names from the root, joined with dots. */
  readonly path: string;
  /** One for each run; null for a branch. */
  readonly cells: readonly Cell[] | null;
  readonly differs: boolean;
  readonly children: readonly DiffNode[];
  /** Leaves below that differ, and leaves in all. */
  readonly numDiffering: number;
  readonly numLeaves: number;
}

type Map_ = Readonly<Record<string, unknown>>;

/** Return the tree of several maps, by natural order of the names. */
export function diffTree(maps: readonly Map_[], prefix = ""): DiffNode[] {
  const names = [...new Set(maps.flatMap((map) => Object.keys(map)))].sort(naturalCompare);
  return names.map((name) => {
    const path = prefix + name;
    const cells = maps.map((map) => (Object.hasOwn(map, name) ? map[name] : ABSENT));
    const present = cells.filter((cell) => cell !== ABSENT);
    // A branch only where every run that has it has a map: else the difference is at this key itself.
    if (present.length > 0 && present.every(isBranch)) {
      const children = diffTree(
        cells.map((cell) => (cell === ABSENT ? {} : (cell as Map_))),
        `${path}.`,
      );
      return {
        name,
        path,
        cells: null,
        children,
        differs: children.some((child) => child.differs),
        numDiffering: sum(children, (child) => child.numDiffering),
        numLeaves: sum(children, (child) => child.numLeaves),
      };
    }
    const differs = cells.some((cell) => !same(cell, cells[0]));
    return { name, path, cells, children: [], differs, numDiffering: differs ? 1 : 0, numLeaves: 1 };
  });
}

/** Return a map with dotted keys as a nested one; a key below another that has a value keeps its dots. */
export function nested(flat: Map_): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(flat)) {
    const parts = key.split(".");
    const isBelow = parts.some((_, i) => i > 0 && Object.hasOwn(flat, parts.slice(0, i).join(".")));
    const last = isBelow ? key : (parts.pop() as string);
    let at = root;
    for (const part of isBelow ? [] : parts) {
      if (!Object.hasOwn(at, part)) at[part] = {};
      at = at[part] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return root;
}

/** Keep what a pattern does not name, and, unless all is wanted, what differs. Returns how many leaves were ignored. */
export function pruned(
  nodes: readonly DiffNode[],
  keep: { readonly all: boolean; readonly ignore: RegExp | null; readonly section: string },
): { nodes: DiffNode[]; ignored: number } {
  let ignored = 0;
  const walk = (some: readonly DiffNode[]): DiffNode[] =>
    some.flatMap((node) => {
      if (node.cells !== null) {
        if (!keep.all && !node.differs) return [];
        if (keep.ignore?.test(`${keep.section}.${node.path}`)) {
          ignored += 1;
          return [];
        }
        return [node];
      }
      const children = walk(node.children);
      if (children.length === 0) return [];
      return [
        {
          ...node,
          children,
          differs: children.some((child) => child.differs),
          numDiffering: sum(children, (child) => child.numDiffering),
          numLeaves: sum(children, (child) => child.numLeaves),
        },
      ];
    });
  return { nodes: walk(nodes), ignored };
}

export interface DiffRow {
  readonly node: DiffNode;
  readonly depth: number;
  readonly isOpen: boolean;
}

/** Return the rows that are shown, without what lies in closed branches; a branch of one leaf is one row. */
export function diffRows(nodes: readonly DiffNode[], closed: ReadonlySet<string>, depth = 0): DiffRow[] {
  return nodes.flatMap((node) => {
    if (node.cells === null && node.children.length === 1) {
      const [only] = node.children as [DiffNode];
      return diffRows([{ ...only, name: `${node.name}.${only.name}` }], closed, depth);
    }
    const isOpen = node.cells === null && !closed.has(node.path);
    const below = isOpen ? diffRows(node.children, closed, depth + 1) : [];
    return [{ node, depth, isOpen }, ...below];
  });
}

/** Return the leaves of a tree in order. */
export function leavesOf(nodes: readonly DiffNode[]): DiffNode[] {
  return nodes.flatMap((node) => (node.cells === null ? leavesOf(node.children) : [node]));
}

export interface Share {
  readonly cell: Cell;
  /** Places of the runs that have it. */
  readonly runs: readonly number[];
}

/** Return the different values with who has them, the most common first. */
export function valuesOf(cells: readonly Cell[]): Share[] {
  const found = new Map<string, { cell: Cell; runs: number[] }>();
  cells.forEach((cell, i) => {
    const name = cell === ABSENT ? "" : canonical(cell);
    const known = found.get(name);
    if (known) known.runs.push(i);
    else found.set(name, { cell, runs: [i] });
  });
  return [...found.values()].sort(
    (a, b) => b.runs.length - a.runs.length || naturalCompare(cellText(a.cell), cellText(b.cell)),
  );
}

export function cellText(cell: Cell): string {
  if (cell === ABSENT) return "";
  return typeof cell === "string" ? cell : (JSON.stringify(cell) ?? "");
}

function same(left: Cell, right: Cell): boolean {
  if (left === ABSENT || right === ABSENT) return left === right;
  return left === right || canonical(left) === canonical(right);
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const map = value as Record<string, unknown>;
    return `{${Object.keys(map)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(map[key])}`)
      .join(",")}}`;
  }
  return JSON.stringify(value) ?? "undefined";
}

function isBranch(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}

function sum(nodes: readonly DiffNode[], of: (node: DiffNode) => number): number {
  return nodes.reduce((total, node) => total + of(node), 0);
}
