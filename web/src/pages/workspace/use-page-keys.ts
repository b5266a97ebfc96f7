// The keys of the charts, as commands.

import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import { EXPORTS } from "../../chart/export/save";
import { type Command, useCommands } from "../../keys/commands";
import type { ChartOptions, SmoothingKind } from "../../view/state";
import { panelOptions } from "../../view/state";
import { editedPanel } from "./panels/panel-editor";
import { editedRight } from "./panels/right-axis-editor";
import { activePanel, changeOptions, copyOf, exportOf, togglePinned } from "./panels/state";
import type { Workspace } from "./workspace";

const GROUP = "Charts";
const A_PANEL = "of the panel under the pointer, or in full screen";
const SMOOTHER: Readonly<Record<SmoothingKind, number>> = {
  none: 0,
  ema: 0.9,
  gaussian: 0.9,
  window: 0.9,
  median: 0.9,
  min: 0.9,
  max: 0.9,
};

export function usePageKeys(workspace: Workspace, search: RefObject<HTMLInputElement>): void {
  const commands = useMemo(() => {
    const charts = () => workspace.view.peek().charts;
    const set = (options: Partial<ChartOptions>): void => workspace.change({ charts: options });
    const meant = (): string | null => charts().fullScreen ?? activePanel.peek();
    const hasPanel = (): boolean => meant() !== null;
    const smooth = (kind: SmoothingKind): void => set({ smoothing: { kind, amount: SMOOTHER[kind] } });
    const list: Command[] = [
      {
        id: "charts.search",
        title: "Search metrics",
        group: GROUP,
        keys: "/",
        run: () => {
          workspace.showCharts();
          search.current?.focus();
          search.current?.select();
        },
      },
      {
        id: "charts.log",
        title: "Log y axis on or off",
        group: GROUP,
        keys: "l",
        words: "scale logarithmic",
        run: () => {
          const id = charts().fullScreen;
          const { yScale } = id === null ? charts() : panelOptions(charts(), id);
          const next = { yScale: yScale === "log" ? "linear" : "log" } as const;
          if (id === null) set(next);
          else changeOptions(workspace, id, next);
        },
      },
      {
        id: "charts.log-one",
        title: "Log y axis of one panel",
        group: GROUP,
        keys: "shift+l",
        needs: A_PANEL,
        when: hasPanel,
        run: () => {
          const id = meant() as string;
          changeOptions(workspace, id, {
            yScale: panelOptions(charts(), id).yScale === "log" ? "linear" : "log",
          });
        },
      },
      {
        id: "charts.right",
        title: "Right axis of the panel: another metric, or samples of the system",
        group: GROUP,
        keys: "y",
        words: "second y2 gpu cpu overlay",
        needs: A_PANEL,
        when: hasPanel,
        run: () => {
          editedRight.value = meant();
        },
      },
      { id: "charts.symlog", title: "Symlog y axis", group: GROUP, run: () => set({ yScale: "symlog" }) },
      {
        id: "charts.log-x",
        title: "Log x axis on or off",
        group: GROUP,
        run: () => set({ xScale: charts().xScale === "log" ? "linear" : "log" }),
      },
      {
        id: "charts.smooth",
        title: "Smoothing on or off",
        group: GROUP,
        keys: "s",
        words: "ema average",
        run: () => smooth(charts().smoothing.kind === "none" ? "ema" : "none"),
      },
      {
        id: "charts.smooth-gaussian",
        title: "Smooth: Gaussian",
        group: GROUP,
        run: () => smooth("gaussian"),
      },
      { id: "charts.smooth-median", title: "Smooth: median", group: GROUP, run: () => smooth("median") },
      {
        id: "charts.axis",
        title: "Choose the x axis",
        group: GROUP,
        keys: "x",
        words: "step time wall relative",
        run: () => document.querySelector<HTMLButtonElement>('[data-tool="axis"]')?.click(),
      },
      {
        id: "charts.clip",
        title: "Clip outliers on or off",
        group: GROUP,
        run: () => set({ clip: charts().clip > 0 ? 0 : 1 }),
      },
      {
        id: "charts.full",
        title: "Full screen, and back",
        group: GROUP,
        keys: "f",
        needs: A_PANEL,
        when: hasPanel,
        run: () =>
          workspace.change({
            charts: { fullScreen: charts().fullScreen === null ? activePanel.peek() : null },
          }),
      },
      {
        id: "charts.back",
        title: "Back to all panels",
        group: GROUP,
        keys: "escape",
        when: () => charts().fullScreen !== null,
        run: () => workspace.change({ charts: { fullScreen: null } }),
      },
      {
        id: "charts.all",
        title: "Zoom out",
        group: GROUP,
        keys: "0",
        needs: "once zoomed in",
        when: () => charts().zoom !== null,
        run: () => workspace.change({ charts: { zoom: null } }),
      },
      {
        id: "charts.export",
        title: "Export the panel as PNG",
        group: GROUP,
        keys: "e",
        needs: A_PANEL,
        when: hasPanel,
        run: () => void exportOf(meant() as string, "png"),
      },
      {
        id: "charts.copy",
        title: "Copy the panel as a picture",
        group: GROUP,
        words: "export clipboard png",
        keys: "shift+c",
        needs: A_PANEL,
        when: hasPanel,
        run: () => void copyOf(meant() as string),
      },
      ...EXPORTS.filter(({ kind }) => kind !== "png").map(
        ({ kind, title }): Command => ({
          id: `charts.export-${kind}`,
          title: `Export the panel: ${title}`,
          group: GROUP,
          when: hasPanel,
          run: () => void exportOf(meant() as string, kind),
        }),
      ),
      {
        id: "charts.pin",
        title: "Pin the panel",
        group: GROUP,
        keys: "shift+p",
        needs: A_PANEL,
        when: hasPanel,
        run: () => togglePinned(workspace, meant() as string),
      },
      {
        id: "charts.new",
        title: "New panel",
        group: GROUP,
        keys: "n",
        words: "expression regex metrics",
        run: () => {
          editedPanel.value = "new";
        },
      },
      {
        id: "charts.difference",
        title: "Difference to the baseline on or off",
        group: GROUP,
        keys: "d",
        needs: "once a run or group is the baseline",
        when: () => workspace.view.peek().runs.baseline !== null,
        run: () => set({ difference: !charts().difference }),
      },
      {
        id: "views.open",
        title: "Saved views",
        group: GROUP,
        keys: "v",
        run: () => document.querySelector<HTMLButtonElement>('[data-tool="views"]')?.click(),
      },
      {
        id: "views.undo",
        title: "Undo the last change of the view",
        group: GROUP,
        keys: "z",
        words: "back",
        run: () => workspace.address.undo(),
      },
      {
        id: "views.redo",
        title: "Redo what was undone",
        group: GROUP,
        keys: "shift+z",
        words: "forward again",
        run: () => workspace.address.redo(),
      },
      {
        id: "runs.draw-all",
        title: "Draw all shown runs",
        group: "Runs",
        run: () => workspace.changeRuns({ draw: 0 }),
      },
    ];
    return list;
  }, [workspace, search]);
  useCommands(commands);
}
