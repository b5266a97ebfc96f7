// What the panels of the page share: which one is meant, what each draws, and changes of their options.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import {
  copyPicture,
  EXPORTS,
  type ExportKind,
  exportPanel,
  fileName,
  save,
} from "../../../chart/export/save";
import type { Clip } from "../../../chart/extent";
import { chartTheme } from "../../../chart/theme";
import type { Line } from "../../../series/curve";
import { place, send } from "../../../server/client";
import type { MenuItem } from "../../../ui/menu";
import { say, sayError } from "../../../ui/toast";
import type { ChartOptions, Zoom } from "../../../view/state";
import type { ChangeOptions } from "../data/address";
import type { Workspace } from "../workspace";

/** The panel under the pointer, or with the focus: keys act on it. */
export const activePanel = signal<string | null>(null);

export interface ShownLines {
  readonly lines: readonly Line[];
  readonly clip: Clip | null;
  readonly zoom: Zoom | null;
  readonly options: ChartOptions;
  readonly title: string;
  /** What the right axis measures; "" if there is none. */
  readonly rightName: string;
}

/** By panel: what it draws, for exports. */
const shown = new Map<string, ShownLines>();

/** Tell what a panel draws, for as long as it does. */
export function useShown(id: string, what: ShownLines): void {
  shown.set(id, what);
  useEffect(() => () => void shown.delete(id), [id]);
}

/** Change the options of one panel, or take its own away (null). */
export function changeOptions(
  workspace: Workspace,
  id: string,
  options: Partial<ChartOptions> | null,
  change?: ChangeOptions,
): void {
  const { overrides } = workspace.view.peek().charts;
  const { [id]: own, ...others } = overrides;
  workspace.change(
    { charts: { overrides: options === null ? others : { ...others, [id]: { ...own, ...options } } } },
    change,
  );
}

export function togglePinned(workspace: Workspace, id: string): void {
  const { pinned } = workspace.view.peek().charts;
  workspace.change({
    charts: { pinned: pinned.includes(id) ? pinned.filter((one) => one !== id) : [...pinned, id] },
  });
}

export async function exportOf(id: string, kind: ExportKind): Promise<void> {
  const found = shown.get(id);
  if (found === undefined) return;
  try {
    save(await fileOf(found, kind), `${fileName(found.title)}.${kind}`);
  } catch (error) {
    sayError(error);
  }
}

/** Put the picture of a panel onto the clipboard. */
export async function copyOf(id: string): Promise<void> {
  const found = shown.get(id);
  if (found === undefined) return;
  try {
    await copyPicture(() => fileOf(found, "png"));
    say("Picture copied", { tone: "good" });
  } catch (error) {
    sayError(error);
  }
}

function fileOf(panel: ShownLines, kind: ExportKind): Promise<Blob> {
  const { lines, clip, zoom, options, title, rightName } = panel;
  const { xAxis, xScale, yScale, rightScale } = options;
  return exportPanel(
    kind,
    { lines, title, xAxis, xScale, yScale, rightScale, zoom, clip, yName: title, rightName },
    kind === "png" ? { ratio: 2, theme: chartTheme().peek() } : {},
  );
}

/** More files than this at once are kept back by browsers, and wanted by nobody. */
const MOST_FILES = 20;

/** Save what runs logged of some keys, every point of it: the server's own export, a file for each run. */
export async function exportLogged(runs: readonly string[], keys: readonly string[]): Promise<void> {
  try {
    if (runs.length > MOST_FILES) {
      throw new Error(
        `That would be ${runs.length} files, one for each run; ${MOST_FILES} are saved at once. Hide some runs.`,
      );
    }
    for (const run of runs) {
      const path = `/runs${place(...run.split("/"))}/export`;
      const answer = await send("GET", path, { query: { format: "parquet", keys } });
      save(
        await answer.blob(),
        `${fileName(run.slice(run.lastIndexOf("/") + 1))}-${fileName(keys.join("-"))}.parquet`,
      );
    }
  } catch (error) {
    sayError(error);
  }
}

/** What can be made of a panel, for menus. */
export function exportItems(id: string): MenuItem[] {
  const files = EXPORTS.map(({ kind, title }): MenuItem => {
    return { title, icon: "download", run: () => void exportOf(id, kind) };
  });
  return [...files, { title: "Copy as picture", icon: "copy", run: () => void copyOf(id) }];
}
