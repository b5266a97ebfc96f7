// A run by its colour and name; in heads of columns and rows.

import type { JSX } from "preact";
import { Link } from "../../app/navigation";
import type { RunItem } from "../../server/types";
import { MiddleCut } from "../../ui/middle-cut";
import { Badge } from "../../ui/note";
import { useLook } from "./comparison";

export function RunName({ run, isLinked = true }: { run: RunItem; isLinked?: boolean }): JSX.Element {
  const { entity, project, label, style, base } = useLook();
  const text = label(run);
  return (
    <span class="compare-run" title={`${text} · ${run.id} · ${run.state}`}>
      <span class="compare-dot" style={{ background: style(run).colour }} aria-hidden="true" />
      {isLinked ? (
        <Link to={{ name: "run", entity, project, run: run.id, tab: "" }} class="cut" aria-label={text}>
          <MiddleCut text={text} />
        </Link>
      ) : (
        <span class="cut">{text}</span>
      )}
      {run.id === base.id && <Badge tone="accent">baseline</Badge>}
    </span>
  );
}
