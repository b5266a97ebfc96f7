// The menu of a panel: its own scale, smoothing and x axis beside those of all, pin, export.

import type { JSX } from "preact";
import { IconButton } from "../../../ui/button";
import { Menu, type MenuItem } from "../../../ui/menu";
import type { ChartOptions } from "../../../view/state";
import type { Workspace } from "../workspace";
import { editedPanel } from "./panel-editor";
import { panelKeys } from "./right-axis";
import { editedRight } from "./right-axis-editor";
import type { PanelSpec } from "./specs";
import { changeOptions, exportItems, exportLogged, togglePinned } from "./state";

export interface PanelMenuProps {
  readonly workspace: Workspace;
  readonly spec: PanelSpec;
  readonly options: ChartOptions;
}

export function PanelMenu({ workspace, spec, options }: PanelMenuProps): JSX.Element {
  return (
    <Menu
      label={`Options of ${spec.title}`}
      align="end"
      items={itemsOf(workspace, spec, options)}
      trigger={(props) => <IconButton {...props} icon="dots" label={`Options of ${spec.title}`} />}
    />
  );
}

function itemsOf(workspace: Workspace, spec: PanelSpec, options: ChartOptions): MenuItem[] {
  const { charts, runs } = workspace.view.peek();
  const set = (own: Partial<ChartOptions>): void => changeOptions(workspace, spec.id, own);
  const isPinned = charts.pinned.includes(spec.id);
  const isSmooth = options.smoothing.kind !== "none";
  const items: MenuItem[] = [
    {
      title: isPinned ? "Unpin" : "Pin to the top",
      icon: "pin",
      run: () => togglePinned(workspace, spec.id),
    },
    {
      title: options.yScale === "log" ? "Linear y axis" : "Log y axis",
      icon: "bars",
      keys: "Shift L",
      heading: "This panel only",
      run: () => set({ yScale: options.yScale === "log" ? "linear" : "log" }),
    },
    {
      title: options.right.length > 0 ? "Change the right axis" : "Add a right axis",
      icon: "bars",
      keys: "Y",
      run: () => {
        editedRight.value = spec.id;
      },
    },
    {
      title: isSmooth ? "No smoothing" : "Smooth",
      icon: "settings",
      run: () => set({ smoothing: isSmooth ? { kind: "none", amount: 0 } : { kind: "ema", amount: 0.9 } }),
    },
    {
      title: options.clip > 0 ? "Show outliers" : "Clip outliers",
      icon: "filter",
      run: () => set({ clip: options.clip > 0 ? 0 : 1 }),
    },
  ];
  if (runs.baseline !== null) {
    items.push({
      title: options.difference ? "Values" : "Difference to the baseline",
      icon: "compare",
      run: () => set({ difference: !options.difference }),
    });
  }
  if (charts.overrides[spec.id] !== undefined) {
    items.push({
      title: "As all panels",
      icon: "reload",
      run: () => changeOptions(workspace, spec.id, null),
    });
  }
  if (spec.own) {
    const own = spec.own;
    items.push(
      {
        title: "Change what it shows",
        icon: "edit",
        line: true,
        run: () => {
          editedPanel.value = own;
        },
      },
      {
        title: "Remove the panel",
        icon: "trash",
        isDanger: true,
        run: () =>
          workspace.change({ charts: { panels: charts.panels.filter((panel) => panel.id !== spec.id) } }),
      },
    );
  }
  const [first, ...others] = exportItems(spec.id);
  if (first) {
    const logged: MenuItem = {
      title: "Parquet of what was logged",
      icon: "download",
      run: () => void exportLogged(workspace.drawnPaths.peek(), panelKeys(spec, options).logged),
    };
    items.push({ ...first, heading: "Export" }, ...others, logged);
  }
  return items;
}
