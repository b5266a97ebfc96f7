// Nothing logged yet: the three lines that change that.

import type { JSX } from "preact";
import { server } from "../../app/session";
import { FirstLines } from "../../ui/first-lines";
import { EmptyState } from "../../ui/note";

export function FirstRun(): JSX.Element {
  const isServer = server.value?.auth === true;
  return (
    <EmptyState title="Nothing has been logged yet" icon="bars">
      <p>
        {isServer ? "Run this where you train, after " : "Run this, and the project shows up here by itself."}
        {isServer && (
          <>
            <code>strobe login --host {location.origin}</code>, and the project shows up here by itself.
          </>
        )}
      </p>
      <FirstLines project="first" />
      <p class="quiet">
        Or watch a small model train: <code>strobe demo</code>
      </p>
    </EmptyState>
  );
}
