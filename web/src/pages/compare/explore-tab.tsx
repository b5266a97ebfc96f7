// Many runs at a glance: parallel coordinates, scatter and bars over the same runs, what config goes with a metric, and
// the table of runs. A brush in one is a brush in all, and in the other tabs.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Bars } from "../../chart/svg/bar";
import { Parallel } from "../../chart/svg/parallel";
import { Scatter } from "../../chart/svg/scatter";
import { count, counted, number } from "../../series/format";
import { Button } from "../../ui/button";
import { Select } from "../../ui/field";
import { ErrorNote } from "../../ui/note";
import type { Scale } from "../../view/state";
import { useComparison } from "./comparison";
import { ExploreTable } from "./explore-table";
import { ImportancePanel } from "./importance-panel";
import { type PlotCell, plotText, titleOf } from "./measure";
import { MeasurePicker } from "./measure-picker";
import { Once } from "./once";
import { Panel } from "./panel";
import { type Colouring, rampColour } from "./ramp";
import { PLOT_SCALES, type PlotScale, readRanges, writeRanges } from "./state";
import type { TextTable } from "./table-text";
import { useExplore } from "./use-explore";

const MANY_BARS = 30;
const MANY_DRAWN = 150;

export function ExploreTab(): JSX.Element {
  const { keys } = useComparison();
  // Which metric to begin with is known when all are.
  if (!keys.isLoading || keys.names.length > 0) return <Plots />;
  return (
    <p class="compare-note" aria-busy="true">
      Reading metrics
    </p>
  );
}

function Plots(): JSX.Element {
  const comparison = useComparison();
  const { state, change, runs, label, brushed, brush, style } = comparison;
  const [meant, setMeant] = useState<string | null>(null);
  const [isAllBars, setAllBars] = useState(false);
  const explore = useExplore();
  const { target, axes, x, y, colour, cells, colouring, measures } = explore;
  const colourOf = (i: number): string => {
    const run = runs[i];
    return colouring !== null || run === undefined ? (colouring?.colour(i) ?? "") : style(run).colour;
  };
  const rows = useMemo(
    () => runs.map((run, i) => ({ id: run.id, label: label(run), colour: colourOf(i) })),
    [runs, label, style, colouring],
  );
  // Plots of hundreds of runs are not drawn anew for each that is pointed at; they tell its name themselves.
  const plotMeant = runs.length > MANY_DRAWN ? null : meant;
  const ranges = useMemo(() => readRanges(state.ranges), [state.ranges]);
  const xs = useMemo(() => placed(cells(x)), [cells, x]);
  const ys = useMemo(() => placed(cells(y)), [cells, y]);
  const strands = useMemo(
    () => axes.map((one) => ({ name: titleOf(one), values: cells(one), scale: scaleOf(cells(one)) })),
    [axes.join("\n"), cells],
  );
  const points = useMemo(
    () => rows.map((row, i) => ({ ...row, x: xs.values[i] ?? Number.NaN, y: ys.values[i] ?? Number.NaN })),
    [rows, xs, ys],
  );
  const goal = explore.goal(target);
  const order = useMemo(() => orderOf(cells(target), goal), [cells, target, goal]);
  const bars = isAllBars ? order : order.slice(0, MANY_BARS);
  const base = runs.indexOf(comparison.base);
  const table = (of: readonly string[]) => (): TextTable => ({
    title: of.map(titleOf).join(", "),
    isNumeric: true,
    head: ["run", ...of.map(titleOf)],
    rows: runs.map((run, i) => [label(run), ...of.map((one) => plotText(cells(one)[i]))]),
  });
  const colourControl = (
    <MeasurePicker
      label="Colour"
      measures={["", ...measures]}
      chosen={[colour]}
      title={colour === "" ? "by run" : titleOf(colour)}
      onPick={(chosen) => change({ colour: chosen === "" ? "run" : chosen })}
    />
  );
  return (
    <div class="explore">
      <div class="compare-tools">
        <Once on={[measures, target, colour]}>
          {() => (
            <>
              <MeasurePicker
                label="Metric"
                measures={measures.filter((one) => !one.startsWith("config."))}
                chosen={[target]}
                onPick={(chosen) => change({ target: chosen })}
              />
              {colourControl}
            </>
          )}
        </Once>
        {colouring !== null && <Legend title={titleOf(colour)} colouring={colouring} />}
      </div>
      {explore.problem && <ErrorNote error={explore.problem} />}
      <div class="explore-grid">
        <Panel
          title="Parallel coordinates"
          class="explore-wide"
          table={table(axes)}
          controls={
            <Once on={[measures, strands]}>
              {() => (
                <MeasurePicker
                  label="Axes"
                  title={counted(axes.length, "axis", "axes")}
                  measures={measures}
                  chosen={axes}
                  isMany
                  onPick={(one) =>
                    change({
                      axes: axes.includes(one) ? axes.filter((axis) => axis !== one) : [...axes, one],
                    })
                  }
                />
              )}
            </Once>
          }
        >
          <div class="parallel-scroll">
            <div style={{ minWidth: `${axes.length * 96}px` }}>
              <Once on={[rows, strands, ranges, brushed, plotMeant]}>
                {() => (
                  <Parallel
                    rows={rows}
                    axes={strands}
                    brushes={ranges}
                    brushed={brushed}
                    highlighted={plotMeant}
                    onBrush={(next, ids) =>
                      change(
                        { ranges: writeRanges(next), brush: ids === null ? [] : [...ids] },
                        { replace: true },
                      )
                    }
                    onHover={setMeant}
                  />
                )}
              </Once>
            </div>
          </div>
        </Panel>
        <div class="explore-column">
          <Panel
            title="Scatter"
            table={table([x, y])}
            controls={
              <Once on={[measures, x, y, state.xs, state.ys]}>
                {() => (
                  <>
                    <MeasurePicker
                      label="X"
                      measures={measures}
                      chosen={[x]}
                      onPick={(one) => change({ x: one })}
                    />
                    <ScaleSelect
                      label="Scale of x"
                      value={state.xs}
                      onChange={(scale) => change({ xs: scale })}
                    />
                    <MeasurePicker
                      label="Y"
                      measures={measures}
                      chosen={[y]}
                      onPick={(one) => change({ y: one })}
                    />
                    <ScaleSelect
                      label="Scale of y"
                      value={state.ys}
                      onChange={(scale) => change({ ys: scale })}
                    />
                  </>
                )}
              </Once>
            }
          >
            <Once on={[points, state.xs, state.ys, brushed, plotMeant]}>
              {() => (
                <Scatter
                  points={points}
                  xName={titleOf(x)}
                  yName={titleOf(y)}
                  xScale={state.xs === "auto" ? scaleOf(cells(x)) : xs.names === null ? state.xs : "linear"}
                  yScale={state.ys === "auto" ? scaleOf(cells(y)) : ys.names === null ? state.ys : "linear"}
                  brushed={brushed}
                  highlighted={plotMeant}
                  onBrush={brush}
                  onHover={setMeant}
                />
              )}
            </Once>
            <Levels axis="x" names={xs.names} />
            <Levels axis="y" names={ys.names} />
          </Panel>
          <Once on={[target, cells, explore.columns]}>
            {() => (
              <ImportancePanel
                target={target}
                targetCells={cells(target)}
                columns={explore.columns}
                onPick={(key) => change({ x: `config.${key}`, y: target })}
              />
            )}
          </Once>
        </div>
        <Panel title={titleOf(target)} table={table([target])}>
          <Bars
            name={titleOf(target)}
            bars={bars.map((i) => ({
              ...(rows[i] as (typeof rows)[number]),
              value: cells(target)[i] as number,
            }))}
            baseline={finiteOr(cells(target)[base], null)}
            brushed={brushed}
            highlighted={meant}
            onBrush={brush}
            onHover={setMeant}
          />
          {order.length === 0 && <p class="quiet explore-none">No run has this metric.</p>}
          {(bars.length < order.length || order.length < runs.length) && (
            <p class="compare-note">
              {bars.length < order.length &&
                `Showing the first ${count(bars.length)} of ${count(order.length)}. `}
              {order.length < runs.length &&
                `${counted(runs.length - order.length, "run")} without a number. `}
              {bars.length < order.length && <Button onClick={() => setAllBars(true)}>Show all</Button>}
            </p>
          )}
        </Panel>
        <ExploreTable
          target={target}
          axes={axes}
          cells={cells}
          order={order}
          table={table([...new Set([target, ...axes])])}
          meant={meant}
          onHover={setMeant}
        />
      </div>
    </div>
  );
}

function ScaleSelect(props: {
  label: string;
  value: PlotScale;
  onChange: (scale: PlotScale) => void;
}): JSX.Element {
  return <Select {...props} options={PLOT_SCALES.map((value) => ({ value, title: value }))} />;
}

function Legend({ title, colouring }: { title: string; colouring: Colouring }): JSX.Element {
  const { ends, texts } = colouring;
  if (ends === null) {
    return (
      <span class="legend">
        {texts.slice(0, 8).map((one) => (
          <span key={one.text} class="legend-item">
            <span class="compare-dot" style={{ background: one.colour }} aria-hidden="true" />
            {one.text}
          </span>
        ))}
        {texts.length > 8 && <span class="quiet">and {count(texts.length - 8)} more</span>}
      </span>
    );
  }
  const stops = [0, 0.25, 0.5, 0.75, 1].map(rampColour).join(", ");
  return (
    <span class="legend" title={title}>
      {number(ends[0])}
      <span
        class="legend-ramp"
        style={{ background: `linear-gradient(to right, ${stops})` }}
        aria-hidden="true"
      />
      {number(ends[1])}
    </span>
  );
}

function Levels({ axis, names }: { axis: string; names: readonly string[] | null }): JSX.Element | null {
  if (names === null) return null;
  const some = names.slice(0, 12).map((name, i) => `${i} is ${name}`);
  return (
    <p class="quiet explore-none">
      {axis}: {some.join(", ")}
      {names.length > 12 && ` and ${count(names.length - 12)} more`}
    </p>
  );
}

/** Numbers as they are, texts at the number of their level. */
function placed(cells: readonly PlotCell[]): { values: number[]; names: string[] | null } {
  const texts = [...new Set(cells.filter((cell) => typeof cell === "string"))].sort();
  if (texts.length === 0)
    return { values: cells.map((cell) => (cell as number | null) ?? Number.NaN), names: null };
  return {
    values: cells.map((cell) => (cell === null ? Number.NaN : texts.indexOf(String(cell)))),
    names: texts,
  };
}

/** Numbers over several orders of size are spread by their logarithm. */
function scaleOf(cells: readonly PlotCell[]): Scale {
  const numbers = cells.filter((cell): cell is number => typeof cell === "number" && Number.isFinite(cell));
  if (
    numbers.length < 2 ||
    cells.some((cell) => typeof cell === "string") ||
    numbers.some((value) => value <= 0)
  )
    return "linear";
  return Math.max(...numbers) / Math.min(...numbers) >= 50 ? "log" : "linear";
}

/** Places of the runs that have a number, the best first. */
function orderOf(cells: readonly PlotCell[], goal: "min" | "max" | null): number[] {
  const sign = goal === "min" ? 1 : -1;
  return cells
    .flatMap((cell, i) => (typeof cell === "number" && Number.isFinite(cell) ? [i] : []))
    .sort((a, b) => sign * ((cells[a] as number) - (cells[b] as number)));
}

function finiteOr<T>(cell: PlotCell | undefined, otherwise: T): number | T {
  return typeof cell === "number" && Number.isFinite(cell) ? cell : otherwise;
}
