// Benchmark results: the page that `strobe bench publish` writes, made by the server from the runs that carry results,
// in a frame of its own. What it shows is decided where the statistics are; here only whose results, in which colours,
// where its links lead, and that there are newer ones.

import type { JSX } from "preact";
import { server } from "../../app/session";
import { isDark } from "../../app/theme";
import { Select } from "../../ui/field";
import { ErrorNote } from "../../ui/note";
import { useParam } from "../run/params";
import { ResultsFrame } from "./frame";
import { fullName, type Listing, nameOf, useListing } from "./listing";
import { Nothing } from "./nothing";
import "./benchmarks.css";

export function BenchmarksPage(): JSX.Element {
  const { value: listing, problem, reload } = useListing();
  if (listing === undefined) {
    return problem ? (
      <main class="page">
        <ErrorNote error={problem} onRetry={reload} />
      </main>
    ) : (
      <main class="page" aria-busy="true" />
    );
  }
  if (listing.items.length > 0) return <Results listing={listing} />;
  return (
    <main class="page">
      <Nothing />
    </main>
  );
}

function Results({ listing }: { listing: Listing }): JSX.Element {
  const [given, setProject] = useParam("project");
  const project = fullName(given, server.value?.entity);
  const dark = isDark();
  return (
    <main class="benchmarks">
      <h1 class="unseen">Benchmarks</h1>
      {listing.items.length > 1 && (
        <div class="benchmarks-bar">
          <Select
            label="Project"
            isLabelShown
            value={project}
            options={[
              { value: "", title: "All projects" },
              ...listing.items.map(nameOf).map((name) => ({ value: name, title: name })),
            ]}
            onChange={(name) => setProject(name, { push: true })}
          />
        </div>
      )}
      <ResultsFrame key={`${project} ${dark}`} project={project} isDark={dark} listing={listing} />
    </main>
  );
}
