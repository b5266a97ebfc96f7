// Where the run stands among its forks: the run that it came from, and those that came from it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "../../../app/navigation";
import { count, relativeTime } from "../../../series/format";
import { runColour } from "../../../series/palette";
import { useAnswer } from "../../../server/answer";
import { place } from "../../../server/client";
import type { Paged, RunDocument, RunItem } from "../../../server/types";
import { Button } from "../../../ui/button";
import { StateDot } from "../../../ui/note";
import { useRun } from "../model";

const AT_FIRST = 20;
/** What the server gives at once. */
const MOST = 1000;
/** The entity of runs that were logged before they were sent anywhere: forks may name their parent by it. */
const LOCAL = "local";

export function Forks({ run }: { run: RunDocument }): JSX.Element | null {
  const model = useRun();
  const [limit, setLimit] = useState(AT_FIRST);
  const names = [...new Set([model.path, `${LOCAL}/${run.project}/${run.id}`])];
  const { value } = useAnswer<Paged<RunItem>>(place("projects", run.entity, run.project, "runs"), {
    filter: JSON.stringify({ parent: { $in: names } }),
    sort: "created_ns",
    columns: ["id"],
    count: true,
    limit,
  });
  const forks = value?.items ?? [];
  const total = value?.total ?? forks.length;
  if (forks.length === 0 && run.parent === null) return null;
  return (
    <section class="card" aria-label="Forks">
      <div class="card-head">
        <h2>Forks</h2>
        {forks.length > 0 && <span class="quiet">{count(total)}</span>}
      </div>
      <ul class="forks">
        {run.parent !== null && <Parent run={run} path={run.parent} />}
        {forks.map((fork) => (
          <li key={fork.id} class="fork">
            <span class="fork-mark" style={{ background: runColour(fork.id) }} />
            <Link
              class="cut"
              to={{ name: "run", entity: fork.entity, project: fork.project, run: fork.id, tab: "" }}
            >
              {fork.name}
            </Link>
            <StateDot state={fork.state} />
            <span class="quiet fork-facts">
              after step {count(fork.fork_step ?? 0)} · {relativeTime(fork.created_ns / 1e6, model.now.value)}
            </span>
          </li>
        ))}
      </ul>
      {forks.length < total && (
        <p class="forks-more quiet">
          Showing {count(forks.length)} of {count(total)}
          {forks.length < MOST && (
            <Button kind="quiet" onClick={() => setLimit(MOST)}>
              Show {total <= MOST ? "all" : count(MOST)}
            </Button>
          )}
        </p>
      )}
    </section>
  );
}

function Parent({ run, path }: { run: RunDocument; path: string }): JSX.Element {
  const [entity = "", project = "", id = ""] = path.split("/");
  const own = entity === LOCAL ? run.entity : entity;
  // Asked for as a list, because it may be gone.
  const found = useAnswer<Paged<RunItem>>(place("projects", own, project, "runs"), {
    filter: JSON.stringify({ id }),
    columns: ["id"],
  });
  const parent = found.value?.items[0];
  return (
    <li class="fork">
      <span class="fork-mark" style={{ background: runColour(id) }} />
      <Link class="cut" to={{ name: "run", entity: own, project, run: id, tab: "" }}>
        {parent?.name ?? id}
      </Link>
      {parent && <StateDot state={parent.state} />}
      <span class="quiet fork-facts">
        the parent: this run took it over after step {count(run.fork_step ?? 0)}
      </span>
    </li>
  );
}
