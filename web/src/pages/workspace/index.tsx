// The workspace of a project: runs on the left, panels beside them; on a phone one or the other.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PageProps } from "../../app/app";
import { NoProject } from "../../app/no-project";
import { dateTime } from "../../series/format";
import { isMissing } from "../../server/client";
import { Badge, ErrorNote } from "../../ui/note";
import { Segments } from "../../ui/tabs";
import { Bar } from "./bar/bar";
import { DrawnNote } from "./bar/drawn-note";
import { useEmptyState } from "./empty";
import { cellWidth, RunList } from "./list/run-list";
import { FullScreen } from "./panels/full-screen";
import { PanelEditor } from "./panels/panel-editor";
import { Panels } from "./panels/panels";
import { RightAxisEditor } from "./panels/right-axis-editor";
import { Split } from "./split";
import { usePageKeys } from "./use-page-keys";
import { usePalette } from "./use-palette";
import { useWorkspace, Workspace, WorkspaceContext } from "./workspace";
import "./workspace.css";

export function WorkspacePage({ entity, project }: PageProps<"workspace">): JSX.Element {
  const workspace = useMemo(() => new Workspace(entity, project), [entity, project]);
  useEffect(() => workspace.start(), [workspace]);
  return (
    <WorkspaceContext.Provider value={workspace}>
      <Content />
    </WorkspaceContext.Provider>
  );
}

const SIDES = [
  { value: "runs", title: "Runs" },
  { value: "charts", title: "Charts" },
] as const;

function Content(): JSX.Element {
  const workspace = useWorkspace();
  const search = useRef<HTMLInputElement>(null);
  usePageKeys(workspace, search);
  usePalette(workspace);
  const side = workspace.side.value;
  const { runs } = workspace.view.value;
  if (workspace.runs.total.value === null && isMissing(workspace.runs.problem.value)) {
    const { entity, project, runs: list, keys } = workspace;
    const onRetry = (): void => {
      list.reload();
      keys.reload();
    };
    return <NoProject entity={entity} project={project} onRetry={onRetry} />;
  }
  return (
    <main class="workspace" data-side={side}>
      <div class="sides">
        <Segments
          label="Show"
          options={SIDES}
          value={side}
          onChange={(next) => {
            workspace.side.value = next;
          }}
        />
      </div>
      <Split preferred={Math.max(400, 270 + 72 + workspace.columns.value.length * cellWidth(runs))}>
        <RunList />
      </Split>
      <div class="charts">
        <Charts search={search} />
      </div>
      <PanelEditor />
      <RightAxisEditor />
    </main>
  );
}

function Charts({ search }: { search: { current: HTMLInputElement | null } }): JSX.Element {
  const workspace = useWorkspace();
  const { fullScreen } = workspace.view.value.charts;
  const empty = useEmptyState();
  if (fullScreen !== null && empty === null) return <FullScreen key={fullScreen} id={fullScreen} />;
  return (
    <>
      <Bar searchRef={search} />
      <Told />
      {empty ?? <Panels />}
    </>
  );
}

/** What one should know about what is drawn. */
function Told(): JSX.Element {
  const workspace = useWorkspace();
  const broken = workspace.brokenSince.value;
  const ignored = workspace.address.ignored.value;
  const problem = workspace.keys.problem.value;
  return (
    <div class="told">
      <DrawnNote />
      {broken !== null && (
        <Badge tone="warn" title="New points are not coming in; it is tried again">
          not live since {dateTime(broken).slice(11)}
        </Badge>
      )}
      {ignored.length > 0 && (
        <Badge tone="warn" title={ignored.map((one) => `${one.name}=${one.value}: ${one.reason}`).join("\n")}>
          part of the address was not understood
        </Badge>
      )}
      {problem !== null && <ErrorNote error={problem} onRetry={() => workspace.keys.reload()} />}
    </div>
  );
}
