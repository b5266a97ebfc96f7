// What the panels of the page share: which one is meant, what each draws, and changes of their options.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ExportKind, exportPanel, fileName, save } from "../../../chart/export/save";
import type { Clip } from "../../../chart/extent";
import { chartTheme } from "../../../chart/theme";
import type { Line } from "../../../series/curve";
import { sayError } from "../../../ui/toast";
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
  const { lines, clip, zoom, options, title, rightName } = found;
  const { xAxis, xScale, yScale, rightScale } = options;
  try {
    const file = await exportPanel(
      kind,
      { lines, title, xAxis, xScale, yScale, rightScale, zoom, clip, yName: title, rightName },
      kind === "png" ? { ratio: 2, theme: chartTheme().peek() } : {},
    );
    save(file, `${fileName(title)}.${kind}`);
  } catch (error) {
    sayError(error);
  }
}
