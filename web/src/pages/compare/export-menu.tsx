// The button that saves what a panel shows: tables as CSV, Markdown and LaTeX, drawings as PNG and SVG with their numbers.

import type { JSX } from "preact";
import { fileName, save } from "../../chart/export/save";
import { IconButton } from "../../ui/button";
import { Menu, type MenuItem } from "../../ui/menu";
import { copyText } from "../../ui/note";
import { say, sayError } from "../../ui/toast";
import { pngBlob, svgText } from "./picture";
import { type TableKind, type TextTable, tableText } from "./table-text";

const TYPES: Readonly<Record<TableKind, string>> = {
  csv: "text/csv",
  md: "text/markdown",
  tex: "application/x-tex",
};

export interface ExportMenuProps {
  readonly title: string;
  readonly table: () => TextTable;
  /** Finds the drawing, for panels that have one. */
  readonly drawing?: () => SVGSVGElement | null;
  /** What there is beside these. */
  readonly more?: readonly MenuItem[];
}

export function ExportMenu({ title, table, drawing, more = [] }: ExportMenuProps): JSX.Element {
  const saveTable = (kind: TableKind): void =>
    save(new Blob([tableText(table(), kind)], { type: TYPES[kind] }), `${fileName(title)}.${kind}`);
  const saveDrawing = async (kind: "svg" | "png"): Promise<void> => {
    const svg = drawing?.() ?? null;
    if (svg === null) throw new Error("There is nothing drawn to save yet.");
    const file =
      kind === "png" ? await pngBlob(svg, title) : new Blob([svgText(svg, title)], { type: "image/svg+xml" });
    save(file, `${fileName(title)}.${kind}`);
  };
  const copy = (kind: TableKind, name: string): void =>
    void copyText(tableText(table(), kind)).then(() => say(`${name} copied`, { tone: "good" }), sayError);
  const drawings: MenuItem[] = drawing
    ? [
        { title: "PNG picture", icon: "download", run: () => void saveDrawing("png").catch(sayError) },
        { title: "SVG drawing", icon: "download", run: () => void saveDrawing("svg").catch(sayError) },
      ]
    : [];
  return (
    <Menu
      label={`Export ${title}`}
      align="end"
      trigger={(props) => <IconButton {...props} icon="download" label={`Export ${title}`} />}
      items={[
        ...more,
        ...drawings,
        { title: "CSV", icon: "download", run: () => saveTable("csv") },
        { title: "Markdown table", icon: "download", run: () => saveTable("md") },
        { title: "LaTeX table", icon: "download", run: () => saveTable("tex") },
        { title: "Copy as Markdown", icon: "copy", line: true, run: () => copy("md", "Markdown") },
        { title: "Copy as LaTeX", icon: "copy", run: () => copy("tex", "LaTeX") },
      ]}
    />
  );
}
