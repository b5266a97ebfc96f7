// One run: who it is at the top, and tabs for all that is known of it. Each tab is loaded when it is first shown.

import type { FunctionComponent, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { PageProps } from "../../app/app";
import { lazy } from "../../app/lazy";
import { go, Link } from "../../app/navigation";
import { useTitle } from "../../app/title";
import { type Command, useCommands } from "../../keys/commands";
import { count, dateTime } from "../../series/format";
import { isMissing } from "../../server/client";
import { Button } from "../../ui/button";
import { EmptyState, ErrorNote } from "../../ui/note";
import { Tabs } from "../../ui/tabs";
import { RunHeader } from "./header";
import { RunContext, RunModel } from "./model";
import { numCharts, TABS, type TabId, tabOf } from "./tabs";
import "./run.css";

const PARTS: Record<TabId, FunctionComponent<object>> = {
  overview: lazy(() => import("./overview/overview").then((module) => module.Overview)),
  charts: lazy(() => import("./charts/charts").then((module) => module.Charts)),
  system: lazy(() => import("./charts/system").then((module) => module.System)),
  console: lazy(() => import("./console/console").then((module) => module.Console)),
  media: lazy(() => import("./media/media").then((module) => module.Media)),
  tables: lazy(() => import("./tables/tables").then((module) => module.Tables)),
  files: lazy(() => import("./files/files").then((module) => module.Files)),
  artifacts: lazy(() => import("./artifacts/artifacts").then((module) => module.Artifacts)),
};

export function RunPage({ entity, project, run: id, tab }: PageProps<"run">): JSX.Element {
  const model = useMemo(() => new RunModel(entity, project, id), [entity, project, id]);
  useEffect(() => model.start(), [model]);
  useCommands(useMemo(() => tabCommands(model), [model]));
  const run = model.run.value;
  const problem = model.problem.value;
  useTitle(run?.name ?? null);
  if (run === null) {
    if (problem === null) return <main class="page" aria-busy="true" />;
    return (
      <main class="page">
        {isMissing(problem) ? (
          <EmptyState title={`There is no run ${id}`} icon="search">
            <p>
              If it has just begun, it shows up here by itself. Else it was deleted for good, or the address
              is not quite right.{" "}
              <Link to={{ name: "workspace", entity, project }}>See the runs of {project}</Link>
            </p>
          </EmptyState>
        ) : (
          <ErrorNote error={problem} onRetry={() => void model.load()} />
        )}
      </main>
    );
  }
  const isGone = run.deleted_ns !== null;
  const chosen = isGone ? "overview" : tabOf(tab);
  const Part = PARTS[chosen];
  const charts = numCharts(model.keys.value);
  const tabs = TABS.map((one) => ({
    ...one,
    to: { name: "run", entity, project, run: id, tab: one.id === "overview" ? "" : one.id } as const,
    ...(one.id === "charts" && charts !== null && { note: count(charts) }),
  }));
  return (
    <RunContext.Provider value={model}>
      <main class={`run run-on-${chosen}`}>
        <RunHeader />
        {isGone ? (
          <div class="run-gone" role="status">
            <span>
              This run was deleted {run.deleted_ns ? dateTime(run.deleted_ns / 1e6) : ""}. It can be brought
              back until it is purged.
            </span>
            <Button kind="primary" onClick={() => void model.restore()}>
              Restore
            </Button>
          </div>
        ) : (
          <Tabs label="Parts of the run" tabs={tabs} chosen={chosen} />
        )}
        <div class="run-part">
          <Part key={chosen} />
        </div>
      </main>
    </RunContext.Provider>
  );
}

function tabCommands(model: RunModel): Command[] {
  const { entity, project, id } = model;
  return TABS.map((tab, index) => ({
    id: `run.${tab.id}`,
    title: `Run: ${tab.title.toLowerCase()}`,
    group: "Run",
    keys: String(index + 1),
    run: () => go({ name: "run", entity, project, run: id, tab: index === 0 ? "" : tab.id }),
  }));
}
