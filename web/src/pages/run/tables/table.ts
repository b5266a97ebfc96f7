// A logged table as columns, from the record in a row or from its file (docs/data-types.md). Pure.

export type Cell = unknown;

export interface Column {
  readonly name: string;
  readonly kind: string;
  readonly cells: ArrayLike<Cell>;
}

export interface TableData {
  readonly columns: readonly Column[];
  readonly numRows: number;
}

type Map_ = Readonly<Record<string, unknown>>;

const NUMBERS = new Set(["float", "int", "number", "decimal", "duration"]);

export function isNumeric(kind: string): boolean {
  return NUMBERS.has(kind);
}

/** Return the table of a record that holds its data; packed columns are bytes, or base64 where the record came as JSON. */
export function tableOf(record: Map_): TableData {
  const names = Array.isArray(record.columns) ? record.columns.map(String) : [];
  const kinds = Array.isArray(record.types) ? record.types.map(String) : [];
  const data = Array.isArray(record.data) ? record.data : [];
  const numRows = Number(record.nrows ?? 0);
  const columns = names.map((name, index): Column => {
    const kind = kinds[index] ?? "";
    return { name, kind, cells: cellsOf(data[index], kind, numRows) };
  });
  // Of an increment, `nrows` counts the rows of those before too.
  const held = columns.reduce((most, column) => Math.max(most, column.cells.length), 0);
  return { columns, numRows: held };
}

/** Put tables of the same columns one below the other. */
export function joined(tables: readonly TableData[]): TableData {
  const [first] = tables;
  if (first === undefined || tables.length === 1) return first ?? { columns: [], numRows: 0 };
  const numRows = tables.reduce((sum, table) => sum + table.numRows, 0);
  const columns = first.columns.map((column, index) => ({
    ...column,
    cells: tables.flatMap((table) => Array.from(table.columns[index]?.cells ?? [])),
  }));
  return { columns, numRows };
}

function cellsOf(column: unknown, kind: string, numRows: number): ArrayLike<Cell> {
  if (Array.isArray(column)) return isNumeric(kind) ? column.map(asNumber) : column;
  const bytes = typeof column === "string" ? fromBase64(column) : column;
  if (!(bytes instanceof Uint8Array)) return [];
  if (kind === "boolean") return Array.from(bytes, (byte) => byte !== 0);
  if (kind === "float") return new Float64Array(copyOf(bytes));
  const width = numRows > 0 ? bytes.length / numRows : 8;
  if (width === 1) return new Int8Array(copyOf(bytes));
  if (width === 2) return new Int16Array(copyOf(bytes));
  if (width === 4) return new Int32Array(copyOf(bytes));
  return Array.from(new BigInt64Array(copyOf(bytes)), (value) =>
    Number.isSafeInteger(Number(value)) ? Number(value) : value,
  );
}

/** Numbers that JSON lacks come as texts; long ones and others as small records. */
function asNumber(cell: unknown): unknown {
  if (typeof cell === "string") return Number(cell);
  if (typeof cell === "object" && cell !== null && "_type" in cell) {
    const { _type: type, value, seconds } = cell as { _type: string; value?: unknown; seconds?: unknown };
    if (type === "duration") return Number(seconds);
    if (type === "decimal" || type === "int") return Number(value);
  }
  return cell;
}

/** Typed arrays need an own buffer: bytes of a file do not lie on their boundaries. */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer;
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** A cell as text: for filters, exports and tooltips. */
export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return cell;
  if (typeof cell === "object") {
    if (cell instanceof Uint8Array) return `${cell.length} bytes`;
    const record = cell as Map_;
    if (record._type === "timestamp") return String(record.value);
    if (record._type === "ndarray") return `array (${String(record.shape)})`;
    if (typeof record.caption === "string" && record.caption) return record.caption;
    if (typeof record.path === "string") return record.path;
    return JSON.stringify(cell, (_, value) => (typeof value === "bigint" ? String(value) : value)) ?? "";
  }
  return String(cell);
}
