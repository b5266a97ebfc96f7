// All projects that one may see: what is alive, what was done lately, and how to begin where there is none.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Command, useCommands } from "../../keys/commands";
import { counted } from "../../series/format";
import { Select, TextField } from "../../ui/field";
import { EmptyState, ErrorNote } from "../../ui/note";
import { FirstRun } from "./first-run";
import { choose, ORDERS, type Order } from "./order";
import { ProjectRow } from "./row";
import { useProjects } from "./use-projects";
import "./projects.css";

export function ProjectsPage(): JSX.Element {
  const { projects, problem, reload } = useProjects();
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<Order>("active");
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useCommands(useMemo(() => ownCommands(field, list), []));
  const now = useNow();
  const shown = useMemo(() => choose(projects ?? [], search, order), [projects, search, order]);
  if (problem && !projects) {
    return (
      <main class="page">
        <ErrorNote error={problem} onRetry={reload} />
      </main>
    );
  }
  if (!projects) return <main class="page" aria-busy="true" />;
  if (projects.length === 0) {
    return (
      <main class="page">
        <FirstRun />
      </main>
    );
  }
  const numRuns = projects.reduce((sum, project) => sum + project.num_runs, 0);
  const numRunning = projects.reduce((sum, project) => sum + project.num_running, 0);
  return (
    <main class="page projects">
      <div class="projects-head">
        <div>
          <h1>Projects</h1>
          <p class="quiet">
            {counted(projects.length, "project")}, {counted(numRuns, "run")}
            {numRunning > 0 && <span class="projects-live">, {counted(numRunning, "run")} live now</span>}
          </p>
        </div>
        <div class="projects-tools">
          <TextField
            type="search"
            icon="search"
            label="Search projects"
            placeholder="Search projects"
            hint={<kbd>/</kbd>}
            value={search}
            onInput={setSearch}
            inputRef={field}
            onKeyDown={(event) => {
              if (event.key !== "ArrowDown") return;
              event.preventDefault();
              focusRow(list.current, 0);
            }}
          />
          <Select label="Order" value={order} options={ORDERS} onChange={setOrder} />
        </div>
      </div>
      {shown.length === 0 ? (
        <EmptyState title={`No project is called “${search}”`} icon="search">
          <p>Search looks at the names and descriptions of {counted(projects.length, "project")}.</p>
        </EmptyState>
      ) : (
        <div class="projects-list" ref={list}>
          <div class="project project-titles" aria-hidden="true">
            <span>Project</span>
            <span class="project-activity">Runs begun, 4 weeks</span>
            <span class="project-number">Runs</span>
            <span class="project-time">Last activity</span>
          </div>
          <ul>
            {shown.map((project) => (
              <ProjectRow key={`${project.entity}/${project.name}`} project={project} now={now} />
            ))}
          </ul>
        </div>
      )}
    </main>
  );
}

const TICK_MS = 15_000;

/** The time, now and then: "3 min ago" has to become 4. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function focusRow(list: HTMLElement | null, step: number): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>(".project-link") ?? [])];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
}

function ownCommands(
  field: { current: HTMLInputElement | null },
  list: { current: HTMLElement | null },
): Command[] {
  const group = "Projects";
  const down = () => focusRow(list.current, 1);
  const up = () => focusRow(list.current, -1);
  return [
    { id: "projects.search", title: "Search projects", group, keys: "/", run: () => field.current?.focus() },
    {
      id: "projects.next",
      title: "Next project",
      group,
      keys: ["j", "arrowdown"],
      isHidden: true,
      run: down,
    },
    {
      id: "projects.previous",
      title: "Previous project",
      group,
      keys: ["k", "arrowup"],
      isHidden: true,
      run: up,
    },
  ];
}
