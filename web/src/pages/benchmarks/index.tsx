// Benchmark results: the page that `strobe bench publish` writes, made by the server from the runs that carry results,
// in a frame of its own. What it shows is decided where the statistics are; here only whose results, in which colours,
// and where its links lead.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go } from "../../app/navigation";
import { isDark } from "../../app/theme";
import { address, get } from "../../server/client";
import { Select } from "../../ui/field";
import { EmptyState, ErrorNote } from "../../ui/note";
import { setParams, useParam } from "../run/params";
import { said } from "./said";
import "./benchmarks.css";

/** GET /api/v1/benchmarks/projects */
interface BenchProject {
  entity: string;
  project: string;
  num_results: number;
  newest_ns: number;
}

const PATH = "/benchmarks";
/** The view that is shown without any in the address. */
const RESULTS = "results";
/** While there is nothing: the first results may be on their way, as the page says. */
const LOOK_AGAIN_MS = 2000;

export function BenchmarksPage(): JSX.Element {
  const [projects, setProjects] = useState<BenchProject[] | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let timer: number | undefined;
    const ask = () =>
      get<{ items: BenchProject[] }>(`${PATH}/projects`, {}, abort.signal).then(
        (found) => {
          setProjects(found.items);
          if (found.items.length === 0) timer = window.setTimeout(ask, LOOK_AGAIN_MS);
        },
        (error: Error) => {
          if (!abort.signal.aborted) setProblem(error);
        },
      );
    void ask();
    return () => {
      abort.abort();
      window.clearTimeout(timer);
    };
  }, []);
  if (problem) {
    return (
      <main class="page">
        <ErrorNote error={problem} onRetry={() => location.reload()} />
      </main>
    );
  }
  if (projects === null) return <main class="page" aria-busy="true" />;
  return projects.length > 0 ? <Results projects={projects} /> : <Nothing />;
}

function Results({ projects }: { projects: readonly BenchProject[] }): JSX.Element {
  const [project, setProject] = useParam("project");
  const [view] = useParam("view", RESULTS);
  const [systems] = useParam("systems");
  const frame = useRef<HTMLIFrameElement>(null);
  // The view and its systems are in the address so that a link shows them, but the frame finds its way by itself once
  // it is there.
  const first = useRef({ view, systems });
  const dark = isDark();
  const source = useMemo(() => {
    const shown = first.current;
    const hash = `#${encodeURIComponent(shown.view)}${shown.systems && `?systems=${shown.systems}`}`;
    return address(PATH, { project: project || null, theme: dark ? "dark" : "light" }) + hash;
  }, [project, dark]);
  useEffect(() => {
    const listen = (event: MessageEvent) => {
      if (event.source === null || event.source !== frame.current?.contentWindow) return;
      const word = said(event.data);
      if (word?.kind === "run") go({ name: "run", ...word.run, tab: "" });
      if (word?.kind === "view") {
        first.current = { view: word.view, systems: word.systems };
        setParams({ view: word.view === RESULTS ? null : word.view, systems: word.systems });
      }
    };
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, []);
  const names = projects.map((one) => `${one.entity}/${one.project}`);
  return (
    <main class="benchmarks">
      <h1 class="unseen">Benchmarks</h1>
      {projects.length > 1 && (
        <div class="benchmarks-bar">
          <Select
            label="Project"
            isLabelShown
            value={project}
            options={[
              { value: "", title: "All projects" },
              ...names.map((name) => ({ value: name, title: name })),
            ]}
            onChange={(name) => setProject(name, { push: true })}
          />
        </div>
      )}
      <iframe ref={frame} title="Benchmark results" src={source} sandbox="allow-scripts" />
    </main>
  );
}

function Nothing(): JSX.Element {
  return (
    <main class="page">
      <EmptyState title="There are no benchmark results here yet" icon="gauge">
        <p>
          <code>strobe bench run</code> measures the smoke tier in a few minutes, and the results show up
          here: each is a run with the job type <code>bench</code>.
        </p>
        <p class="quiet">
          Results that are in a file: <code>strobe bench import results.jsonl</code>
        </p>
      </EmptyState>
    </main>
  );
}
