// All that the run logged as numbers, in the panels of the workspace; and the way from a point to the lines that were
// printed then.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Link } from "../../../app/navigation";
import { xText } from "../../../chart/axis";
import { crosshair, isLocked, readings } from "../../../chart/crosshair";
import { number } from "../../../series/format";
import { Button } from "../../../ui/button";
import { Bar } from "../../workspace/bar/bar";
import { useEmptyState } from "../../workspace/empty";
import { FullScreen } from "../../workspace/panels/full-screen";
import { PanelEditor } from "../../workspace/panels/panel-editor";
import { Panels } from "../../workspace/panels/panels";
import { RightAxisEditor } from "../../workspace/panels/right-axis-editor";
import { usePageKeys } from "../../workspace/use-page-keys";
import { WorkspaceContext } from "../../workspace/workspace";
import "../../workspace/workspace.css";
import { clock } from "../clock";
import { useRun } from "../model";
import { useParam } from "../params";
import { AttemptCharts } from "./attempt-charts";
import { MediaBeside, MediaToggle } from "./media-beside";
import { RunWorkspace } from "./run-workspace";
import "./charts.css";

export function Charts(): JSX.Element {
  const [attempt, setAttempt] = useParam("attempt");
  if (attempt !== "")
    return <AttemptCharts attempt={Number(attempt)} onClose={() => setAttempt("", { push: true })} />;
  return <RunCharts />;
}

function RunCharts(): JSX.Element {
  const model = useRun();
  const workspace = useMemo(() => new RunWorkspace(model), [model]);
  useEffect(() => workspace.start(), [workspace]);
  useMoment();
  return (
    <WorkspaceContext.Provider value={workspace}>
      <Content workspace={workspace} />
      <PanelEditor />
      <RightAxisEditor />
    </WorkspaceContext.Provider>
  );
}

function Content({ workspace }: { workspace: RunWorkspace }): JSX.Element {
  const search = useRef<HTMLInputElement>(null);
  usePageKeys(workspace, search);
  const { fullScreen } = workspace.view.value.charts;
  const empty = useEmptyState();
  return (
    <div class="run-charts workspace">
      <div class="charts">
        {fullScreen !== null && empty === null ? (
          <FullScreen key={fullScreen} id={fullScreen} />
        ) : (
          <>
            {empty === null && <Bar searchRef={search} />}
            {empty ?? <Panels />}
          </>
        )}
      </div>
      {empty === null && (
        <div class="charts-foot">
          <MediaBeside workspace={workspace} />
          <Here workspace={workspace} />
        </div>
      )}
    </div>
  );
}

/** A link to a moment (from the console) puts the crosshair there, until one moves it. */
function useMoment(): void {
  const [at] = useParam("at");
  useEffect(() => {
    const seconds = Number(at) / 1000;
    if (at !== "" && Number.isFinite(seconds)) {
      crosshair.value = { x: seconds, axis: "wall", chart: "console" };
      isLocked.value = true;
    }
    return letGo;
  }, [at]);
}

function letGo(): void {
  isLocked.value = false;
  crosshair.value = null;
  readings.value = null;
}

/** What is under the crosshair, and what was printed at that time. It is always there, so that nothing moves. */
function Here({ workspace }: { workspace: RunWorkspace }): JSX.Element {
  const at = crosshair.value;
  const read = readings.value;
  if (at === null) {
    return (
      <div class="here quiet">
        <span class="here-hint">Point at a chart to read it; click to hold the place.</span>
        <div class="here-end">
          <MediaToggle />
        </div>
      </div>
    );
  }
  const names = workspace.keys.keys.value.names;
  const key = read !== null && names.includes(read.title) ? read.title : names[0];
  const moment = key === undefined ? null : workspace.momentAt(at.axis, at.x, key);
  const value = read === null ? undefined : [...read.values.values()][0];
  const { entity, project, run } = workspace;
  return (
    <div class="here">
      <span>{xText(at.axis, at.x)}</span>
      {read !== null && value !== undefined && (
        <span class="cut">
          {read.title} <strong>{number(value.y, 6)}</strong>
        </span>
      )}
      {moment !== null && at.axis !== "wall" && <span class="quiet">{clock(moment)}</span>}
      <div class="here-end">
        <MediaToggle />
        {moment !== null && (
          <Link
            class="button"
            to={{ name: "run", entity, project, run, tab: "console" }}
            search={`?at=${Math.round(moment * 1e6)}`}
          >
            Log lines here
          </Link>
        )}
        {isLocked.value && <Button onClick={letGo}>Let go</Button>}
      </div>
    </div>
  );
}
