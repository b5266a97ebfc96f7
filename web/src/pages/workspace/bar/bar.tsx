// The bar over the panels: one place for what holds for all of them.

import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { xText } from "../../../chart/axis";
import { watchSize } from "../../../chart/mount";
import { counted } from "../../../series/format";
import { Button } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { useSettled } from "../../../ui/settled";
import type { ChartOptions } from "../../../view/state";
import { editedPanel } from "../panels/panel-editor";
import { useWorkspace, type Workspace } from "../workspace";
import { AxisPicker, BandControl, ClipControl, ScalePicker, SmoothingControl } from "./options";
import { ViewsMenu } from "./views-menu";
import "./bar.css";

export function Bar({ searchRef }: { searchRef: RefObject<HTMLInputElement> }): JSX.Element {
  const workspace = useWorkspace();
  const { charts, runs } = workspace.view.value;
  const set = (options: Partial<ChartOptions>, replace = false): void =>
    workspace.change({ charts: options }, { replace });
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = bar.current;
    if (element === null) return;
    // Headings of sections stick below the bar, which is higher where its controls need two lines.
    return watchSize(element, () => {
      element.parentElement?.style.setProperty("--bar", `${element.offsetHeight}px`);
    });
  }, []);
  return (
    <div class="bar" role="toolbar" aria-label="All panels" ref={bar}>
      <MetricSearch workspace={workspace} inputRef={searchRef} />
      <div class="bar-options">
        <AxisPicker
          xAxis={charts.xAxis}
          onChange={(xAxis) => workspace.change({ charts: { xAxis, zoom: null } })}
        />
        <ScalePicker options={charts} onChange={set} />
        <SmoothingControl options={charts} onChange={set} />
        <ClipControl options={charts} onChange={set} />
        {runs.group.length > 0 && <BandControl options={charts} onChange={set} />}
        {runs.baseline !== null && (
          <Button
            icon="compare"
            pressed={charts.difference}
            title="Draw the difference to the baseline"
            onClick={() => set({ difference: !charts.difference })}
          >
            Difference
          </Button>
        )}
        {charts.zoom !== null && (
          <Button
            icon="zoomOut"
            title="Show everything"
            onClick={() => workspace.change({ charts: { zoom: null } })}
          >
            {xText(charts.xAxis, charts.zoom.first)} to {xText(charts.xAxis, charts.zoom.last)}
          </Button>
        )}
      </div>
      <div class="bar-end">
        <Button
          icon="add"
          onClick={() => {
            editedPanel.value = "new";
          }}
        >
          Panel
        </Button>
        <ViewsMenu />
      </div>
    </div>
  );
}

function MetricSearch({
  workspace,
  inputRef,
}: {
  workspace: Workspace;
  inputRef: RefObject<HTMLInputElement>;
}): JSX.Element {
  const { search } = workspace.view.value.charts;
  const [text, setText] = useState(search);
  const sent = useRef(search);
  useEffect(() => {
    if (search === sent.current) return;
    sent.current = search;
    setText(search);
  }, [search]);
  const settled = useSettled(text, 120);
  useEffect(() => {
    if (settled === sent.current || settled !== text) return;
    sent.current = settled;
    workspace.change({ charts: { search: settled } }, { replace: true });
  }, [settled, text, workspace]);
  return (
    <TextField
      class="bar-search"
      type="search"
      icon="search"
      label="Search metrics"
      placeholder={`Search ${counted(workspace.keys.keys.value.names.length, "metric")}, /regex/`}
      value={text}
      onInput={setText}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !text) inputRef.current?.blur();
      }}
      inputRef={inputRef}
      hint={<kbd>/</kbd>}
    />
  );
}
