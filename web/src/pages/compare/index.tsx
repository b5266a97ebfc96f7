// Runs held against each other: what differs in how they were made, what came of it, and what goes with what. Which runs,
// and everything that was chosen, is in the address.

import type { FunctionComponent, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { PageProps } from "../../app/app";
import { lazy } from "../../app/lazy";
import { place } from "../../app/navigation";
import { NoProject } from "../../app/no-project";
import { pathOf } from "../../app/route";
import { useTitle } from "../../app/title";
import { type Command, useCommands } from "../../keys/commands";
import { count, counted } from "../../series/format";
import { runStyles } from "../../series/palette";
import { isMissing } from "../../server/client";
import type { RunItem } from "../../server/types";
import { EmptyState, ErrorNote } from "../../ui/note";
import { Tabs } from "../../ui/tabs";
import { CompareAddress } from "./address";
import { type Comparison, ComparisonContext, LookContext, labelsOf } from "./comparison";
import { saidGoals } from "./figure";
import { RunPicker, RunsBar } from "./runs-bar";
import type { Tab } from "./state";
import { useKeys } from "./use-figures";
import { useRuns } from "./use-runs";
import "./compare.css";

const TITLES: Readonly<Record<Tab, string>> = {
  diff: "Differences",
  metrics: "Metrics",
  charts: "Charts",
  explore: "Explore",
};

const BODIES: Readonly<Record<Tab, FunctionComponent>> = {
  diff: lazy(() => import("./diff-tab").then((module) => module.DiffTab)),
  metrics: lazy(() => import("./metrics-tab").then((module) => module.MetricsTab)),
  charts: lazy(() => import("./charts-tab").then((module) => module.ChartsTab)),
  explore: lazy(() => import("./explore-tab").then((module) => module.ExploreTab)),
};

export function ComparePage({ entity, project }: PageProps<"compare">): JSX.Element {
  const [address] = useState(() => new CompareAddress());
  const { path, search } = place.value;
  useEffect(() => address.follow(path, search), [address, path, search]);
  useEffect(() => () => address.write(true), [address]);
  const state = address.state.value;
  const compared = useRuns({ entity, project, runs: state.runs, filter: state.filter, sort: state.sort });
  const { runs } = compared;
  const keys = useKeys(runs);
  const base = runs.find((run) => run.id === state.base) ?? runs[0];
  const goals = useMemo(() => saidGoals(state.goals), [state.goals]);
  const goal = useMemo(
    () => (key: string) => (goals.has(key) ? goals.get(key) : keys.goals.get(key)) ?? null,
    [goals, keys.goals],
  );
  const names = useMemo(() => labelsOf(runs), [runs]);
  const styles = useMemo(() => runStyles(runs.map((run) => run.id)), [runs]);
  const look = useMemo(
    () => ({
      entity,
      project,
      label: (run: RunItem) => names.get(run.id) ?? run.name,
      style: (run: RunItem) => styles.get(run.id) ?? { colour: "currentColor", dash: [] },
    }),
    [entity, project, names, styles],
  );
  const runLook = useMemo(() => (base === undefined ? null : { ...look, base }), [look, base]);
  const brushed = useMemo(() => (state.brush.length === 0 ? null : new Set(state.brush)), [state.brush]);
  const brush = useMemo(
    () => (ids: ReadonlySet<string> | null) =>
      address.change({ brush: ids === null ? [] : [...ids], ranges: [] }, { replace: true }),
    [address],
  );
  useTitle(runs.length > 0 ? `Compare ${counted(runs.length, "run")}` : null);
  useCommands(useMemo(() => ownCommands(address), [address]));
  if (isMissing(compared.problem) && runs.length === 0)
    return <NoProject entity={entity} project={project} onRetry={compared.reload} />;
  if (compared.problem && runs.length === 0) {
    return (
      <main class="page">
        <ErrorNote error={compared.problem} onRetry={compared.reload} />
      </main>
    );
  }
  if (base === undefined) {
    if (compared.isLoading) return <main class="page" aria-busy="true" />;
    return (
      <main class="page">
        <EmptyState title="No runs to compare" icon="compare">
          <p>
            {state.runs.length > 0
              ? "The runs of this address are not there; perhaps they were deleted."
              : "No run fits this view."}{" "}
            Choose others:
          </p>
          <div class="compare-empty">
            <RunPicker
              entity={entity}
              project={project}
              chosen={[]}
              onPick={(id) => address.change({ runs: [id], filter: "" })}
            />
          </div>
        </EmptyState>
      </main>
    );
  }
  const comparison: Comparison = {
    address,
    state,
    change: address.change,
    runs,
    base,
    ...look,
    keys,
    goal,
    brushed,
    brush,
  };
  const here = pathOf({ name: "compare", entity, project });
  const Body = BODIES[state.tab];
  return (
    <LookContext.Provider value={runLook}>
      <ComparisonContext.Provider value={comparison}>
        <main class="compare" aria-busy={compared.isLoading}>
          <h1>Compare {counted(runs.length, "run")}</h1>
          <RunsBar compared={compared} />
          {compared.problem && <ErrorNote error={compared.problem} onRetry={compared.reload} />}
          <Tabs
            label="What to compare"
            chosen={state.tab}
            tabs={(Object.keys(TITLES) as Tab[]).map((tab) => ({
              id: tab,
              title: TITLES[tab],
              to: here + address.with({ tab }),
              ...(tab === "metrics" && keys.names.length > 0 && { note: count(keys.names.length) }),
            }))}
          />
          <div class="compare-body">
            <Body />
          </div>
        </main>
      </ComparisonContext.Provider>
    </LookContext.Provider>
  );
}

function ownCommands(address: CompareAddress): Command[] {
  const group = "Compare";
  const focus = (selector: string): void => {
    const found = globalThis.document.querySelector<HTMLElement>(selector);
    found?.focus();
  };
  const tabs = (Object.keys(TITLES) as Tab[]).map((tab, i) => ({
    id: `compare.${tab}`,
    title: `Show ${TITLES[tab].toLowerCase()}`,
    group,
    keys: String(i + 1),
    run: () => address.change({ tab }),
  }));
  return [
    ...tabs,
    {
      id: "compare.add",
      title: "Add runs",
      group,
      keys: "a",
      run: () => globalThis.document.querySelector<HTMLElement>(".compare-add")?.click(),
    },
    {
      id: "compare.all",
      title: "Switch between differences and all keys",
      group,
      keys: "d",
      run: () => address.change({ tab: "diff", all: !address.state.peek().all }),
    },
    { id: "compare.ignore", title: "Ignore keys", group, keys: "i", run: () => focus(".diff-ignore input") },
    {
      id: "compare.search",
      title: "Search metrics",
      group,
      keys: "/",
      run: () => focus(".metrics-search input"),
    },
    {
      id: "compare.baseline",
      title: "Choose the baseline",
      group,
      keys: "b",
      run: () => focus(".compare-baseline select"),
    },
    {
      id: "compare.clear",
      title: "Clear the selection",
      group,
      keys: "escape",
      when: () => address.state.peek().brush.length > 0,
      run: () => address.change({ brush: [], ranges: [] }),
    },
  ];
}
