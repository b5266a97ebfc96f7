// The controls of charts: x axis, scales, smoothing, outliers, lines of groups. For all panels, and for one.

import type { JSX } from "preact";
import { Button, IconButton } from "../../../ui/button";
import { Select, Slider, Switch } from "../../../ui/field";
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
import { KeyPicker } from "../key-picker";

const AXES = [
  { value: "step", title: "Step" },
  { value: "relative", title: "Time since start" },
  { value: "wall", title: "Wall time" },
];
export const SCALE_OPTIONS: readonly { value: Scale; title: string }[] = [
  { value: "linear", title: "Linear" },
  { value: "log", title: "Log" },
  { value: "symlog", title: "Symlog" },
];
const SMOOTHING_OPTIONS: readonly { value: SmoothingKind; title: string }[] = [
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
