// What one attempt logged, also where a later one superseded it, against what counts now.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Chart } from "../../../chart/chart";
import { OnScreen } from "../../../chart/mount";
import { type Curve, type Line, lineOf } from "../../../series/curve";
import { naturalCompare } from "../../../series/natural";
import { COLOURS, runColour } from "../../../series/palette";
import { readCurves } from "../../../server/series";
import type { RunDocument } from "../../../server/types";
import { Button } from "../../../ui/button";
import { Select } from "../../../ui/field";
import { EmptyState, ErrorNote } from "../../../ui/note";
import type { Zoom } from "../../../view/state";
import { useRun } from "../model";
import { setParams } from "../params";

const HEIGHT = 200;

export function AttemptCharts({ attempt, onClose }: { attempt: number; onClose: () => void }): JSX.Element {
  const model = useRun();
  const run = model.run.value as RunDocument;
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const keys = useMemo(
    () =>
      (model.keys.value ?? [])
        .filter((one) => one.lane === "" && one.has_points)
        .map((one) => one.key)
        .sort(naturalCompare),
    [model.keys.value],
  );
  const facts = run.attempts.find((one) => one.number === attempt);
  if (facts === undefined) {
    return (
      <EmptyState title={`There is no attempt ${attempt}`} icon="search">
        <Button onClick={onClose}>Charts of the run</Button>
      </EmptyState>
    );
  }
  return (
    <div class="attempt-charts">
      <div class="run-bar">
        <Select
          label="Attempt"
          value={String(attempt)}
          options={run.attempts.map((one) => ({
            value: String(one.number),
            title: `Attempt ${one.number}, ${one.state}`,
          }))}
          onChange={(next) => setParams({ attempt: next }, false)}
        />
        <ul class="attempt-legend">
          <li>
            <span class="attempt-mark" style={{ background: runColour(run.id) }} /> what counts now
          </li>
          <li>
            <span class="attempt-mark" style={{ background: attemptColour(run.id) }} /> attempt {attempt},
            superseded parts included
          </li>
        </ul>
        <div class="run-bar-end">
          <Button onClick={onClose}>Charts of the run</Button>
        </div>
      </div>
      <div class="system-grid">
        {keys.map((key) => (
          <article key={key} class="card system-panel" aria-label={key}>
            <h3 class="cut" title={key}>
              {key}
            </h3>
            <OnScreen height={HEIGHT}>
              {() => <OneChart name={key} attempt={attempt} zoom={zoom} onZoom={setZoom} />}
            </OnScreen>
          </article>
        ))}
      </div>
    </div>
  );
}

function attemptColour(id: string): string {
  const own = runColour(id);
  return own === COLOURS[1] ? (COLOURS[0] as string) : (COLOURS[1] as string);
}

interface OneChartProps {
  name: string;
  attempt: number;
  zoom: Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
}

function OneChart({ name, attempt, zoom, onZoom }: OneChartProps): JSX.Element {
  const model = useRun();
  const [lines, setLines] = useState<readonly Line[] | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const range = zoom === null ? {} : { first: Math.floor(zoom.first), last: Math.ceil(zoom.last) };
    const ask = { runs: [model.path], keys: [name], pixels: 800, ...range };
    Promise.all([readCurves(ask, abort.signal), readCurves({ ...ask, attempt }, abort.signal)]).then(
      ([now, then]) => {
        if (abort.signal.aborted) return;
        const style = { dash: [], width: 1.5, faint: false };
        const line = (curve: Curve, id: string, label: string, colour: string): Line =>
          lineOf(curve, { ...style, id, label, colour });
        setLines([
          ...now.map((curve) => line(curve, "now", "what counts now", runColour(model.id))),
          ...then.map((curve) => line(curve, "attempt", `attempt ${attempt}`, attemptColour(model.id))),
        ]);
      },
      (error: Error) => !abort.signal.aborted && setProblem(error),
    );
    return () => abort.abort();
  }, [model, name, attempt, zoom?.first, zoom?.last]);
  if (problem) return <ErrorNote error={problem} />;
  if (lines === null) return <p class="quiet system-note">Loading</p>;
  if (lines.length === 0) return <p class="quiet system-note">Nothing was logged.</p>;
  return <Chart lines={lines} title={name} xAxis="step" zoom={zoom} onZoom={onZoom} height={HEIGHT} />;
}
