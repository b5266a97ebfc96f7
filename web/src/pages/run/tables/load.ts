// The table of a logged value: its record has it, or a file does, or a chain of files that each add rows.

import { send } from "../../../server/client";
import { decodeMsgpack } from "./msgpack";
import { joined, type TableData, tableOf } from "./table";

type Record_ = Readonly<Record<string, unknown>>;

/** Files of one table that are followed back at most: a chain that is longer is told, not cut. */
const MOST_PARTS = 1000;

export async function loadTable(
  value: unknown,
  addressOf: (path: string) => string,
  abort: AbortSignal,
): Promise<TableData> {
  const record = tableRecord(value);
  if (record === null)
    throw new Error("This value is no table that the page can read; download it from Files.");
  if (record._type === "table") return tableOf(record);
  const parts: TableData[] = [];
  let path: unknown = record.path;
  while (typeof path === "string" && path) {
    if (parts.length === MOST_PARTS) {
      throw new Error(`The table consists of more than ${MOST_PARTS} files; read it with strobe.Api.`);
    }
    const answer = await send("GET", addressOf(path), { abort });
    const held = decodeMsgpack(new Uint8Array(await answer.arrayBuffer())) as Record_;
    parts.unshift(tableOf(held));
    path = held.previous;
  }
  return joined(parts);
}

/** A chart of a table has one inside. */
function tableRecord(value: unknown): Record_ | null {
  if (typeof value !== "object" || value === null) return null;
  const record = value as Record_;
  if (record._type === "chart") return tableRecord(record.table);
  return typeof record._type === "string" && record._type.includes("table") ? record : null;
}
