// What the page says where there is nothing to draw.

import type { JSX } from "preact";
import { Button } from "../../ui/button";
import { FirstLines } from "../../ui/first-lines";
import { EmptyState, ErrorNote } from "../../ui/note";
import { showAll } from "./list/eyes";
import { useWorkspace } from "./workspace";

/** Return what to say instead of panels, null if there are panels. */
export function useEmptyState(): JSX.Element | null {
  const workspace = useWorkspace();
  const { filter } = workspace.view.value.runs;
  const total = workspace.runs.total.value;
  const drawn = workspace.drawn.value;
  const problem = workspace.runs.problem.value;
  if (problem !== null && total === null) {
    return (
      <div class="panels">
        <ErrorNote error={problem} onRetry={() => workspace.runs.reload()} />
      </div>
    );
  }
  if (total === null) return <p class="panel-note quiet">Loading</p>;
  if (total === 0 && workspace.filterText.value !== "") {
    return (
      <EmptyState title="No run fits the filter" icon="filter">
        <p>
          <code>{filter}</code>
        </p>
        <p>
          <Button onClick={() => workspace.changeRuns({ filter: "" })}>Clear the filter</Button>
        </p>
      </EmptyState>
    );
  }
  if (total === 0) return <NoRuns />;
  if (drawn.visible === 0) {
    return (
      <EmptyState title="No run is shown" icon="eyeOff">
        <p>
          <Button icon="eye" onClick={() => workspace.changeRuns(showAll())}>
            Show all runs
          </Button>
        </p>
      </EmptyState>
    );
  }
  if (workspace.keys.keys.value.names.length > 0) return null;
  if (workspace.keys.isLoading.value) return <p class="panel-note quiet">Loading</p>;
  return (
    <EmptyState title="No metrics yet" icon="bars">
      <p>
        Charts appear as soon as a run logs a number: <code>run.log({'{"loss": 0.5}'})</code>
      </p>
    </EmptyState>
  );
}

function NoRuns(): JSX.Element {
  return (
    <EmptyState title="No runs here yet" icon="bars">
      <p>Run this, and it shows up here by itself.</p>
      <FirstLines project={useWorkspace().project} />
    </EmptyState>
  );
}
