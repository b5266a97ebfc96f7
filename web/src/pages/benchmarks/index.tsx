// The benchmarks of this home: the page that `strobe bench publish` writes, live, in a frame of its own. What it shows is
// decided where the statistics are; here only whether there is something, and in which colours.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { server } from "../../app/session";
import { isDark } from "../../app/theme";
import { address, ServerProblem, send } from "../../server/client";
import { EmptyState, ErrorNote } from "../../ui/note";
import "./benchmarks.css";

const PATH = "/benchmarks";

export function BenchmarksPage(): JSX.Element {
  const [problem, setProblem] = useState<Error | null>(null);
  const [isThere, setThere] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    send("GET", PATH, { abort: abort.signal }).then(
      () => setThere(true),
      (error: Error) => {
        if (!abort.signal.aborted) setProblem(error);
      },
    );
    return () => abort.abort();
  }, []);
  if (problem instanceof ServerProblem && problem.status === 404) return <Nothing />;
  if (problem) {
    return (
      <main class="page">
        <ErrorNote error={problem} onRetry={() => location.reload()} />
      </main>
    );
  }
  if (!isThere) return <main class="page" aria-busy="true" />;
  const source = address(PATH, { theme: isDark() ? "dark" : "light" });
  return (
    <main class="benchmarks">
      <h1 class="unseen">Benchmarks</h1>
      <iframe title="Benchmark results" src={source} sandbox="allow-scripts" />
    </main>
  );
}

function Nothing(): JSX.Element {
  if (server.value?.auth) {
    return (
      <main class="page">
        <EmptyState title="A server shows no benchmarks" icon="gauge">
          <p>
            <code>strobe ui</code> does, on the machine that measured them; each result is also a run of
            project <code>bench</code>.
          </p>
        </EmptyState>
      </main>
    );
  }
  return (
    <main class="page">
      <EmptyState title="There are no benchmark results here yet" icon="gauge">
        <p>
          <code>strobe bench run</code> measures the smoke tier in a few minutes, and the results show up
          here.
        </p>
        <p class="quiet">
          Results of other machines: <code>strobe bench publish site/ results.jsonl</code>
        </p>
      </EmptyState>
    </main>
  );
}
