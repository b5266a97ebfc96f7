// Chosen metrics of the runs over each other, a small chart each.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Chart } from "../../chart/chart";
import { EXPORTS, exportPanel, fileName, save } from "../../chart/export/save";
import { OnScreen } from "../../chart/mount";
import { chartTheme } from "../../chart/theme";
import { pathOf } from "../../runs/path";
import { sortedByX } from "../../series/align";
import { type Curve, type Line, lineOf } from "../../series/curve";
import { count, counted } from "../../series/format";
import { NameIndex } from "../../series/search";
import { smooth, smoothingUnit } from "../../series/smooth";
import { readCurves } from "../../server/series";
import { Button, IconButton } from "../../ui/button";
import { Select, Slider } from "../../ui/field";
import { Menu } from "../../ui/menu";
import { ErrorNote } from "../../ui/note";
import { Picker } from "../../ui/picker";
import { Popover } from "../../ui/popover";
import { Segments } from "../../ui/tabs";
import { sayError } from "../../ui/toast";
import type { Scale } from "../../view/state";
import { useComparison } from "./comparison";
import type { XAxis } from "./state";
import { telling } from "./telling";

const HEIGHT = 220;
const DEFAULT_CHARTS = 6;
/** Runs drawn before anybody asks for more. */
const MOST_DRAWN = 100;
const PIXELS = 500;

export function ChartsTab(): JSX.Element {
  const { state, change, runs, keys, brushed } = useComparison();
  const [isAll, setAll] = useState(false);
  const chosen =
    state.keys.length > 0 ? state.keys : telling(keys.names, DEFAULT_CHARTS).slice(0, DEFAULT_CHARTS);
  const wanted = brushed === null ? runs : runs.filter((run) => brushed.has(run.id));
  const drawn = isAll ? wanted : wanted.slice(0, MOST_DRAWN);
  return (
    <div class="compare-charts">
      <div class="compare-tools">
        <Popover
          label="Metrics to draw"
          trigger={(trigger) => (
            <Button {...trigger} icon="add">
              Metrics
            </Button>
          )}
        >
          {() => (
            <MetricPicker
              names={keys.names}
              chosen={chosen}
              onPick={(key) =>
                change({
                  keys: chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key],
                })
              }
            />
          )}
        </Popover>
        <Segments<XAxis>
          label="X axis"
          value={state.xAxis}
          options={[
            { value: "step", title: "Step" },
            { value: "relative", title: "Time" },
            { value: "wall", title: "Wall clock" },
          ]}
          onChange={(xAxis) => change({ xAxis })}
        />
        <Select<Scale>
          label="Y scale"
          value={state.yScale}
          options={[
            { value: "linear", title: "Linear y" },
            { value: "log", title: "Log y" },
            { value: "symlog", title: "Symlog y" },
          ]}
          onChange={(yScale) => change({ yScale })}
        />
        <Slider
          label="Smoothing"
          isLabelShown
          value={state.smooth}
          min={0}
          max={0.99}
          step={0.01}
          shown={state.smooth === 0 ? "off" : state.smooth.toFixed(2)}
          onInput={(amount) => change({ smooth: amount }, { replace: true })}
        />
      </div>
      {drawn.length < wanted.length && (
        <p class="compare-note">
          Drawing {count(drawn.length)} of {counted(wanted.length, "run")}.{" "}
          <Button onClick={() => setAll(true)}>Draw all</Button>
        </p>
      )}
      {state.keys.length === 0 && chosen.length < keys.names.length && (
        <p class="compare-note">
          Showing {count(chosen.length)} of {counted(keys.names.length, "metric")}; choose others above.
        </p>
      )}
      {chosen.length === 0 && !keys.isLoading && <p class="quiet">These runs logged no numbers.</p>}
      <div class="charts-grid">
        {chosen.map((key) => (
          <MetricPanel
            key={key}
            metric={key}
            drawn={drawn.map((run) => run.id)}
            onRemove={() => change({ keys: chosen.filter((one) => one !== key) })}
          />
        ))}
      </div>
    </div>
  );
}

interface MetricPickerProps {
  readonly names: readonly string[];
  readonly chosen: readonly string[];
  readonly onPick: (name: string) => void;
  readonly isMany?: boolean;
}

const FOUND = 500;

export function MetricPicker({ names, chosen, onPick, isMany = true }: MetricPickerProps): JSX.Element {
  const [typed, setTyped] = useState("");
  const index = useMemo(() => new NameIndex(names), [names]);
  const found = index.search(typed, FOUND);
  return (
    <Picker
      label="Search metrics"
      placeholder="Search metrics"
      items={found.names.map((name) => ({ value: name, title: name }))}
      left={Math.max(0, found.total - found.names.length)}
      chosen={chosen}
      onSearch={setTyped}
      onPick={onPick}
      isMany={isMany}
    />
  );
}

interface MetricPanelProps {
  readonly metric: string;
  readonly drawn: readonly string[];
  readonly onRemove: () => void;
}

function MetricPanel({ metric, drawn, onRemove }: MetricPanelProps): JSX.Element {
  const { state, label, style, base, runs } = useComparison();
  const { curves, problem } = useCurves(metric, drawn);
  const lines = useMemo(() => {
    const byPath = new Map(runs.map((run) => [pathOf(run), run]));
    return curves.flatMap((curve) => {
      const run = byPath.get(curve.run);
      if (run === undefined) return [];
      const { colour, dash } = style(run);
      const width = run.id === base.id ? 2.5 : 1.5;
      const line = sortedByX(
        lineOf(curve, { id: run.id, label: label(run), colour, dash: [...dash], width, faint: false }),
      );
      return smoothed(line, state.smooth, state.yScale);
    });
  }, [curves, runs, style, label, base, state.smooth, state.yScale]);
  const spec = {
    title: metric,
    lines,
    xAxis: state.xAxis,
    xScale: "linear",
    yScale: state.yScale,
    zoom: null,
    clip: null,
  } as const;
  const have = new Set(lines.filter((line) => !line.faint).map((line) => line.id)).size;
  return (
    <section class="chart-panel" aria-label={metric}>
      <div class="chart-panel-head">
        <h3 class="cut" title={metric}>
          {metric}
        </h3>
        {have < drawn.length && curves.length > 0 && (
          <span class="quiet">
            {count(have)} of {counted(drawn.length, "run")}
          </span>
        )}
        <Menu
          label={`Export ${metric}`}
          align="end"
          trigger={(props) => <IconButton {...props} icon="download" label={`Export ${metric}`} />}
          items={EXPORTS.map(({ kind, title }) => ({
            title,
            run: () =>
              void exportPanel(kind, { ...spec, lines: [...lines] }, { theme: chartTheme().peek() }).then(
                (file) => save(file, `${fileName(metric)}.${kind}`),
                sayError,
              ),
          }))}
        />
        <IconButton icon="close" label={`Remove ${metric}`} onClick={onRemove} />
      </div>
      {problem ? (
        <ErrorNote error={problem} />
      ) : (
        <OnScreen height={HEIGHT}>
          {() => (
            <Chart title={metric} lines={lines} xAxis={state.xAxis} yScale={state.yScale} height={HEIGHT} />
          )}
        </OnScreen>
      )}
    </section>
  );
}

function smoothed(line: Line, amount: number, yScale: Scale): Line[] {
  if (amount === 0) return [line];
  const options = { unit: smoothingUnit(line.x), log: yScale === "log" };
  const y = smooth(line.x, line.y, { kind: "ema", amount }, options);
  const faint = { ...line, id: `${line.id}\nraw`, faint: true, marks: [] };
  return [faint, { ...line, y, low: null, high: null }];
}

function useCurves(
  metric: string,
  ids: readonly string[],
): { curves: readonly Curve[]; problem: Error | null } {
  const { entity, project, state, runs } = useComparison();
  const [curves, setCurves] = useState<readonly Curve[]>([]);
  const [problem, setProblem] = useState<Error | null>(null);
  const axis = state.xAxis === "wall" ? "time" : state.xAxis;
  const versions = new Map(runs.map((run) => [run.id, run.version]));
  const name = ids.map((id) => `${id}:${versions.get(id)}`).join("\n");
  useEffect(() => {
    const abort = new AbortController();
    const paths =
      name === ""
        ? []
        : name.split("\n").map((one) => `${entity}/${project}/${one.slice(0, one.lastIndexOf(":"))}`);
    if (paths.length === 0) {
      setCurves([]);
      return;
    }
    readCurves({ runs: paths, keys: [metric], axis, pixels: PIXELS }, abort.signal).then(
      (found) => {
        if (abort.signal.aborted) return;
        setCurves(found);
        setProblem(null);
      },
      (error: Error) => !abort.signal.aborted && setProblem(error),
    );
    return () => abort.abort();
  }, [entity, project, metric, name, axis]);
  return { curves, problem };
}
