// What is said where there are no results yet.

import type { JSX } from "preact";
import { EmptyState } from "../../ui/note";

export function Nothing(): JSX.Element {
  return (
    <EmptyState title="There are no benchmark results here yet" icon="gauge">
      <p>
        <code>strobe bench run</code> measures the smoke tier in a few minutes, and the results show up here:
        each is a run with the job type <code>bench</code>.
      </p>
      <p class="quiet">
        Results that are in a file: <code>strobe bench import results.jsonl</code>
      </p>
    </EmptyState>
  );
}
