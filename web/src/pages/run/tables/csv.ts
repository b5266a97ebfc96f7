// A table as CSV, as RFC 4180 has it: what needs quotes gets them. Pure.

import { cellText, type TableData } from "./table";

export function csvOf(table: TableData, rows: Uint32Array): string {
  const lines = [table.columns.map((column) => field(column.name)).join(",")];
  for (const row of rows) lines.push(table.columns.map(({ cells }) => field(cellText(cells[row]))).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
