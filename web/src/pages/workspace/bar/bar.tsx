// The bar over the panels: one place for what holds for all of them.

import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { xText } from "../../../chart/axis";
import { watchSize } from "../../../chart/mount";
import { count } from "../../../series/format";
import { Button, IconButton } from "../../../ui/button";
import { Select, Slider, Switch, TextField } from "../../../ui/field";
import { Popover } from "../../../ui/popover";
import { Segments } from "../../../ui/tabs";
import {
  axisKey,
  axisOfKey,
  type Band,
  type Center,
  type ChartOptions,
  type Scale,
  type SmoothingKind,
} from "../../../view/state";
import { KeyPicker } from "../list/toolbar";
import { useSettled } from "../list/use-fields";
import { editedPanel } from "../panels/panel-editor";
import { useWorkspace, type Workspace } from "../workspace";
import { ViewsMenu } from "./views-menu";
import "./bar.css";

export const AXES = [
  { value: "step", title: "Step" },
  { value: "relative", title: "Time since start" },
  { value: "wall", title: "Wall time" },
];
const SCALE_OPTIONS: readonly { value: Scale; title: string }[] = [
  { value: "linear", title: "Linear" },
  { value: "log", title: "Log" },
  { value: "symlog", title: "Symlog" },
];
export const SMOOTHING_OPTIONS: readonly { value: SmoothingKind; title: string }[] = [
  { value: "none", title: "None" },
  { value: "ema", title: "Exponential" },
  { value: "gaussian", title: "Gaussian" },
  { value: "window", title: "Window mean" },
  { value: "median", title: "Window median" },
  { value: "min", title: "Window minimum" },
  { value: "max", title: "Window maximum" },
];
const CENTER_OPTIONS: readonly { value: Center; title: string }[] = [
  { value: "mean", title: "Mean" },
  { value: "median", title: "Median" },
];
const BAND_OPTIONS: readonly { value: Band; title: string }[] = [
  { value: "std", title: "± standard deviation" },
  { value: "sem", title: "± standard error" },
  { value: "ci", title: "95 % confidence" },
  { value: "minmax", title: "Least to greatest" },
  { value: "percentile", title: "10th to 90th percentile" },
  { value: "none", title: "No band" },
];

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
      placeholder={`Search ${count(workspace.keys.keys.value.names.length)} metrics, /regex/`}
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

export interface OptionProps {
  readonly options: ChartOptions;
  readonly onChange: (options: Partial<ChartOptions>, replace?: boolean) => void;
}

export function AxisPicker({
  xAxis,
  onChange,
}: {
  xAxis: string;
  onChange: (xAxis: string) => void;
}): JSX.Element {
  const key = axisKey(xAxis);
  const title = key ?? AXES.find((axis) => axis.value === xAxis)?.title ?? xAxis;
  return (
    <Popover
      label="X axis"
      trigger={(props) => (
        <Button {...props} data-tool="axis" title="X axis (X)" class="bar-axis">
          <span class="quiet">x</span>
          <span class="cut">{title}</span>
        </Button>
      )}
    >
      {(close) => (
        <KeyPicker
          label="X axis"
          before={AXES}
          chosen={[key ?? xAxis]}
          onPick={(value) => {
            onChange(AXES.some((axis) => axis.value === value) ? value : axisOfKey(value));
            close();
          }}
        />
      )}
    </Popover>
  );
}

export function ScalePicker({ options, onChange }: OptionProps): JSX.Element {
  const { xScale, yScale } = options;
  const isPlain = xScale === "linear" && yScale === "linear";
  const text = isPlain ? "Linear" : xScale === "linear" ? `${yScale} y` : `${xScale} x, ${yScale} y`;
  return (
    <Popover
      label="Scales"
      trigger={(props) => (
        <Button {...props} title="Scales of the axes (L for a log y axis)" pressed={!isPlain}>
          {text}
        </Button>
      )}
    >
      {() => (
        <div class="bar-form">
          <span class="field-label">y axis</span>
          <Segments
            label="y axis"
            options={SCALE_OPTIONS}
            value={yScale}
            onChange={(scale) => onChange({ yScale: scale })}
          />
          <span class="field-label">x axis</span>
          <Segments
            label="x axis"
            options={SCALE_OPTIONS}
            value={xScale}
            onChange={(scale) => onChange({ xScale: scale })}
          />
        </div>
      )}
    </Popover>
  );
}

export function SmoothingControl({ options, onChange }: OptionProps): JSX.Element {
  const { kind, amount } = options.smoothing;
  const isOn = kind !== "none";
  return (
    <div class="bar-smooth">
      <Select
        label="Smoothing (S)"
        value={kind}
        options={SMOOTHING_OPTIONS.map((one) =>
          one.value === "none" ? { ...one, title: "No smoothing" } : one,
        )}
        onChange={(next) =>
          onChange({ smoothing: { kind: next, amount: next === "none" ? 0 : amount || 0.9 } })
        }
      />
      {isOn && (
        <Slider
          label="How much"
          value={amount}
          min={0}
          max={0.995}
          step={0.005}
          shown={amount.toFixed(amount > 0.99 ? 3 : 2)}
          onInput={(next) => onChange({ smoothing: { kind, amount: next } }, true)}
        />
      )}
    </div>
  );
}

export function ClipControl({ options, onChange }: OptionProps): JSX.Element {
  const { clip } = options;
  return (
    <Popover
      label="Outliers"
      trigger={(props) => (
        <IconButton
          {...props}
          kind="plain"
          icon="filter"
          label={clip > 0 ? `Outliers clipped at ${clip} %` : "Outliers"}
          pressed={clip > 0}
        />
      )}
    >
      {() => (
        <div class="bar-form">
          <Switch
            label="Clip outliers"
            isOn={clip > 0}
            onChange={(isOn) => onChange({ clip: isOn ? 1 : 0 })}
          />
          <Slider
            label="Percent beyond each end"
            value={clip}
            min={0}
            max={20}
            step={0.5}
            shown={`${clip} %`}
            onInput={(next) => onChange({ clip: next }, true)}
          />
          <p class="quiet">Points beyond are marked at the edge and counted.</p>
        </div>
      )}
    </Popover>
  );
}

export function BandControl({ options, onChange }: OptionProps): JSX.Element {
  const { aggregate } = options;
  const band = BAND_OPTIONS.find((one) => one.value === aggregate.band);
  return (
    <Popover
      label="Lines of groups"
      trigger={(props) => (
        <Button {...props} icon="group" title="How the runs of a group become one line">
          {aggregate.center}, {band?.title.toLowerCase()}
        </Button>
      )}
    >
      {() => (
        <div class="bar-form">
          <Segments
            label="Line"
            options={CENTER_OPTIONS}
            value={aggregate.center}
            onChange={(center) => onChange({ aggregate: { ...aggregate, center } })}
          />
          <Select
            label="Band"
            isLabelShown
            value={aggregate.band}
            options={BAND_OPTIONS}
            onChange={(next) => onChange({ aggregate: { ...aggregate, band: next } })}
          />
          <Switch
            label="Draw the members, too"
            isOn={aggregate.members}
            onChange={(members) => onChange({ aggregate: { ...aggregate, members } })}
          />
        </div>
      )}
    </Popover>
  );
}
