// Each start of the run: how it ended, and where it took up. What a later one superseded can be looked at.

import type { JSX } from "preact";
import { Link } from "../../../app/navigation";
import { count, counted, dateTime, duration, percent } from "../../../series/format";
import type { AttemptFacts, RunDocument } from "../../../server/types";
import { Badge, StateDot } from "../../../ui/note";

export function Attempts({ run }: { run: RunDocument }): JSX.Element | null {
  if (run.attempts.length < 2 && run.attempts.every((one) => one.rejected === 0)) return null;
  return (
    <section class="card" aria-label="Attempts">
      <div class="card-head">
        <h2>Attempts</h2>
        <span class="quiet">{count(run.attempts.length)}</span>
      </div>
      <ol class="attempts">
        {run.attempts.map((attempt) => (
          <Attempt key={attempt.number} attempt={attempt} run={run} />
        ))}
      </ol>
    </section>
  );
}

function Attempt({ attempt, run }: { attempt: AttemptFacts; run: RunDocument }): JSX.Element {
  const { entity, project, id } = run;
  const { started_ns: begun, ended_ns: end } = attempt;
  const isLast = attempt.number === run.attempts.at(-1)?.number;
  return (
    <li class="attempt">
      <span class="attempt-number">{attempt.number}</span>
      <div class="attempt-facts">
        <div class="attempt-line">
          <StateDot state={attempt.state} isNamed />
          {attempt.exit_code !== null && attempt.exit_code !== 0 && (
            <span>exit code {attempt.exit_code}</span>
          )}
          {begun !== null && <span class="quiet">{dateTime(begun / 1e6)}</span>}
          {begun !== null && end !== null && <span class="quiet">{duration((end - begun) / 1e9)}</span>}
          {attempt.rejected > 0 && (
            <Badge tone="bad" title="Rows that could not be recorded">
              {counted(attempt.rejected, "row")} rejected
            </Badge>
          )}
        </div>
        <div class="attempt-line quiet">
          {attempt.from_step !== null && <span>from step {attempt.from_step}</span>}
          {attempt.host && <span>{attempt.host}</span>}
          {attempt.writers.length > 1 && (
            <span>{counted(attempt.writers.length, "process", "processes")}</span>
          )}
          {attempt.share !== null && (
            <span title="Strobe's own part of the time">{percent(attempt.share, 2)} spent on logging</span>
          )}
        </div>
      </div>
      <Link
        class="button button-quiet"
        to={{ name: "run", entity, project, run: id, tab: "charts" }}
        search={`?attempt=${attempt.number}`}
        title={
          isLast
            ? "Charts of what this attempt logged"
            : "Charts of what this attempt logged, also where a later one superseded it"
        }
      >
        Charts of it
      </Link>
    </li>
  );
}
