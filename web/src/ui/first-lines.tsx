// The lines of Python that log a first run, to be copied.

import type { JSX } from "preact";
import { CopyButton } from "./note";
import "./first-lines.css";

const IMPORT = "import strobe";

export function FirstLines({ project }: { project: string }): JSX.Element {
  const lines = [
    `run = strobe.init(project=${JSON.stringify(project)})`,
    'run.log({"loss": 0.5})',
    "run.finish()",
  ].join("\n");
  return (
    <figure class="first-lines">
      <figcaption>
        <span class="quiet">Python</span>
        <CopyButton text={`${IMPORT}\n\n${lines}\n`} label="Copy the code" />
      </figcaption>
      <pre>
        <span class="quiet">{IMPORT}</span>
        {`\n\n${lines}`}
      </pre>
    </figure>
  );
}
