// Which rows of a table are shown, and in what order: filter, sort, group, all over row numbers so that no cell is
// copied. Pure.

import { naturalCompare } from "../../../series/natural";
import { cellText, isNumeric, type TableData } from "./table";

export interface Sort {
  readonly column: string;
  readonly isDown: boolean;
}

/** A filter of one column, as typed: text, "> 0.5", "1..3", "= cat", "!= cat", "/pattern/", "!" before any. */
export type Filters = Readonly<Record<string, string>>;

type Test = (cell: unknown) => boolean;

/** Return the rows that pass all filters, sorted; missing cells come last whichever way round. */
export function rowsOf(table: TableData, filters: Filters, search: string, sort: Sort | null): Uint32Array {
  const tests: { cells: ArrayLike<unknown>; test: Test }[] = [];
  for (const column of table.columns) {
    const text = filters[column.name]?.trim();
    const test = text ? testOf(text, isNumeric(column.kind)) : null;
    if (test) tests.push({ cells: column.cells, test });
  }
  const wanted = search.trim().toLowerCase();
  const found: number[] = [];
  for (let row = 0; row < table.numRows; row++) {
    if (!tests.every(({ cells, test }) => test(cells[row]))) continue;
    if (wanted && !table.columns.some(({ cells }) => cellText(cells[row]).toLowerCase().includes(wanted)))
      continue;
    found.push(row);
  }
  const column = sort === null ? undefined : table.columns.find((one) => one.name === sort.column);
  if (sort !== null && column !== undefined) {
    const compare = comparer(column.cells, sort.isDown);
    found.sort((a, b) => compare(a, b) || a - b);
  }
  return Uint32Array.from(found);
}

/** Return what a filter's text means; null if it cannot be read (half typed): then it filters nothing. */
export function testOf(text: string, isNumber: boolean): Test | null {
  if (text.startsWith("!") && !text.startsWith("!=")) {
    const inner = testOf(text.slice(1).trim(), isNumber);
    return inner && ((cell) => !inner(cell));
  }
  const pattern = /^\/(.+)\/(i?)$/.exec(text);
  if (pattern) {
    try {
      const regex = new RegExp(pattern[1] as string, pattern[2]);
      return (cell) => regex.test(cellText(cell));
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }
  const compared = /^(<=|>=|!=|==|<|>|=)\s*(.*)$/.exec(text);
  if (compared) return compare(compared[1] as string, compared[2] as string);
  const range = /^(-?[\d.eE+-]+)\s*\.\.\s*(-?[\d.eE+-]+)$/.exec(text);
  if (range) {
    const [low, high] = [Number(range[1]), Number(range[2])];
    return (cell) => typeof cell === "number" && cell >= low && cell <= high;
  }
  if (isNumber && text !== "" && !Number.isNaN(Number(text))) return compare("=", text);
  const wanted = text.toLowerCase();
  return (cell) => cellText(cell).toLowerCase().includes(wanted);
}

function compare(sign: string, text: string): Test | null {
  if (text === "") return null;
  const number = Number(text);
  const isNaNText = text.toLowerCase() === "nan";
  const isEqual: Test = (cell) => {
    if (typeof cell === "number") return isNaNText ? Number.isNaN(cell) : cell === number;
    return cellText(cell).toLowerCase() === text.toLowerCase();
  };
  if (sign === "=" || sign === "==") return isEqual;
  if (sign === "!=") return (cell) => !isEqual(cell);
  if (Number.isNaN(number)) return null;
  return (cell) => {
    if (typeof cell !== "number" && typeof cell !== "bigint") return false;
    if (sign === "<") return cell < number;
    if (sign === "<=") return cell <= number;
    return sign === ">" ? cell > number : cell >= number;
  };
}

function comparer(cells: ArrayLike<unknown>, isDown: boolean): (a: number, b: number) => number {
  const sign = isDown ? -1 : 1;
  return (a, b) => {
    const [one, other] = [cells[a], cells[b]];
    const absent = Number(isAbsent(one)) - Number(isAbsent(other));
    if (absent !== 0) return absent;
    if (isAbsent(one)) return 0;
    return sign * order(one, other);
  };
}

function isAbsent(cell: unknown): boolean {
  return cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));
}

function order(one: unknown, other: unknown): number {
  if (isOrdered(one) && isOrdered(other)) return one < other ? -1 : one > other ? 1 : 0;
  return naturalCompare(cellText(one), cellText(other));
}

function isOrdered(cell: unknown): cell is number | bigint | boolean {
  return typeof cell === "number" || typeof cell === "bigint" || typeof cell === "boolean";
}

export interface Group {
  /** The value that its rows share, as text. */
  readonly name: string;
  readonly rows: Uint32Array;
}

/** Return the rows by the value of a column, the largest group first; rows keep their order. */
export function groupsOf(table: TableData, rows: Uint32Array, by: string): Group[] {
  const column = table.columns.find((one) => one.name === by);
  if (column === undefined) return [];
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    const name = cellText(column.cells[row]);
    const known = groups.get(name);
    if (known) known.push(row);
    else groups.set(name, [row]);
  }
  return [...groups]
    .map(([name, some]) => ({ name, rows: Uint32Array.from(some) }))
    .sort((a, b) => b.rows.length - a.rows.length || naturalCompare(a.name, b.name));
}

/** The mean of the finite numbers of a column, null where there are none; of booleans the share that is true. */
export function meanOf(cells: ArrayLike<unknown>, rows: Uint32Array): number | null {
  let sum = 0;
  let length = 0;
  for (const row of rows) {
    const cell = cells[row];
    const value = typeof cell === "boolean" ? Number(cell) : cell;
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    sum += value;
    length++;
  }
  return length === 0 ? null : sum / length;
}
