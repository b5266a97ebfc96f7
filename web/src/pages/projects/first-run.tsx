// Nothing logged yet: the three lines that change that.

import type { JSX } from "preact";
import { server } from "../../app/session";
import { CopyButton, EmptyState } from "../../ui/note";

const LINES = ['run = strobe.init(project="first")', 'run.log({"loss": 0.5})', "run.finish()"];

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
      <figure class="snippet">
        <figcaption>
          <span class="quiet">Python</span>
          <CopyButton text={["import strobe", "", ...LINES, ""].join("\n")} label="Copy the code" />
        </figcaption>
        <pre>
          <span class="quiet">import strobe</span>
          {"\n\n"}
          {LINES.join("\n")}
        </pre>
      </figure>
      <p class="quiet">
        Or watch a small model train: <code>strobe demo</code>
      </p>
    </EmptyState>
  );
}
