// What the metrics of the runs come to, and how each differs from the baseline's: metrics as rows while there are few
// runs, else runs as rows. Every column sorts.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, counted } from "../../series/format";
import { NameIndex } from "../../series/search";
import { Button } from "../../ui/button";
import { Switch, TextField } from "../../ui/field";
import { EmptyState, ErrorNote } from "../../ui/note";
import { Segments } from "../../ui/tabs";
import { useComparison } from "./comparison";
import { FEW_RUNS } from "./diff-section";
import { ExportMenu } from "./export-menu";
import type { Figure } from "./figure";
import { FigureCell, GoalButton, SortHead } from "./grid-parts";
import { gridText, metricRow, sortMetrics, sortRuns } from "./metric-grid";
import { RunName } from "./run-name";
import { Scroller } from "./scroller";
import { telling } from "./telling";
import { useDigests } from "./use-figures";

const TITLES: readonly { value: Figure; title: string }[] = [
  { value: "best", title: "Best" },
  { value: "last", title: "Last" },
  { value: "min", title: "Min" },
  { value: "max", title: "Max" },
  { value: "mean", title: "Mean" },
];
const MANY_METRICS = 200;
const FEW_METRICS = 8;
const MANY_RUNS = 100;

export function MetricsTab(): JSX.Element {
  const comparison = useComparison();
  const { state, change, runs, base, label, keys, goal, brushed } = comparison;
  const [isWhole, setWhole] = useState(false);
  const [isEveryRun, setEveryRun] = useState(false);
  const isTurned = runs.length > FEW_RUNS ? !state.isTurned : state.isTurned;
  const index = useMemo(() => new NameIndex(keys.names), [keys.names]);
  const found = useMemo(() => index.search(state.search), [index, state.search]);
  const most = isWhole ? found.total : isTurned ? FEW_METRICS : MANY_METRICS;
  const shown = useMemo(
    () => (state.search ? found.names.slice(0, most) : telling(found.names, most)),
    [found, most, state.search],
  );
  const digests = useDigests(runs, shown);
  const figures = { digest: digests.find, goal };
  const rows = sortMetrics(
    shown.map((key) => metricRow(key, runs, base, state.figure, figures)),
    isTurned ? "" : state.order,
    runs,
  );
  const places = isTurned ? sortRuns(runs, rows, state.order, label) : runs.map((_, i) => i);
  if (keys.problem) return <ErrorNote error={keys.problem} />;
  if (keys.names.length === 0) {
    return keys.isLoading ? (
      <p class="compare-note" aria-busy="true">
        Reading metrics
      </p>
    ) : (
      <EmptyState title="These runs logged no numbers" icon="bars">
        <p>
          What <code>run.log</code> records shows up here.
        </p>
      </EmptyState>
    );
  }
  return (
    <div class="compare-metrics">
      <div class="compare-tools">
        <Segments
          label="Figure"
          value={state.figure}
          options={TITLES}
          onChange={(figure) => change({ figure })}
        />
        <TextField
          label="Search metrics"
          placeholder="Search metrics"
          type="search"
          icon="search"
          hint={<kbd>/</kbd>}
          class="metrics-search"
          value={state.search}
          problem={found.error}
          attributes={{ "data-search": "" } as JSX.HTMLAttributes<HTMLInputElement>}
          onInput={(search) => change({ search }, { replace: true })}
        />
        <Switch
          label="Runs as rows"
          isOn={isTurned}
          onChange={() => change({ isTurned: !state.isTurned, order: "" })}
        />
        <ExportMenu
          title="Metrics"
          table={() => gridText({ rows, runs, places, label, figure: state.figure, isTurned })}
        />
      </div>
      {digests.problem && <ErrorNote error={digests.problem} />}
      {rows.length === 0 ? (
        <p class="quiet">No metric is called “{state.search}”.</p>
      ) : (
        <Scroller label="Metrics of the runs">
          <table class="grid-table" aria-busy={digests.isLoading}>
            {isTurned ? (
              <>
                <thead>
                  <tr>
                    <SortHead column="run" title="Run" />
                    {rows.map((row) => (
                      <SortHead key={row.key} column={row.key} title={row.key}>
                        <GoalButton metric={row.key} />
                      </SortHead>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {(isEveryRun ? places : places.slice(0, MANY_RUNS)).map((i) => {
                    const run = runs[i];
                    if (run === undefined) return null;
                    return (
                      <tr key={run.id} class={brushed !== null && !brushed.has(run.id) ? "compare-dim" : ""}>
                        <th scope="row">
                          <RunName run={run} />
                        </th>
                        {rows.map((row) => (
                          <FigureCell key={row.key} cell={row.cells[i]} />
                        ))}
                      </tr>
                    );
                  })}
                </tbody>
              </>
            ) : (
              <>
                <thead>
                  <tr>
                    <SortHead column="key" title="Metric" />
                    {runs.map((run) => (
                      <SortHead key={run.id} column={run.id} title={label(run)} isPlain={run.id === base.id}>
                        <RunName run={run} isLinked={false} />
                      </SortHead>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <tr key={row.key}>
                      <th scope="row">
                        <span class="metrics-key">
                          <GoalButton metric={row.key} />
                          <span class="cut" title={row.key}>
                            {row.key}
                          </span>
                        </span>
                      </th>
                      {row.cells.map((cell, i) => (
                        <FigureCell key={runs[i]?.id} cell={cell} />
                      ))}
                    </tr>
                  ))}
                </tbody>
              </>
            )}
          </table>
        </Scroller>
      )}
      {isTurned && !isEveryRun && places.length > MANY_RUNS && (
        <p class="compare-note">
          Showing {count(MANY_RUNS)} of {counted(places.length, "run")}.{" "}
          <Button onClick={() => setEveryRun(true)}>Show all</Button>
        </p>
      )}
      {shown.length < found.total && (
        <p class="compare-note">
          Showing {count(shown.length)} of {counted(found.total, "metric")}.{" "}
          <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
      <p class="quiet metrics-legend">
        Changes are against {label(base)}. Green is better, red is worse; the arrow says what is better, a
        click on it changes that.
      </p>
    </div>
  );
}
