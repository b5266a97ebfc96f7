// The overview: what one wants to know first on the left, what explains it on the right.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { dateTime, relativeTime } from "../../../series/format";
import type { Paged, RunDocument } from "../../../server/types";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { CopyButton } from "../../../ui/note";
import { Tree } from "../../../ui/tree";
import { branchesOf } from "../../../ui/tree-rows";
import type { LoggedAlert } from "../documents";
import { useFresh, useRun } from "../model";
import { SCROLLS } from "../scrolls";
import { About } from "./about";
import { Attempts } from "./attempts";
import { Code } from "./code";
import { Environment, Packages } from "./environment";
import { Forks } from "./forks";
import { Metrics } from "./metrics";
import { otherResults } from "./results";
import "./overview.css";

export function Overview(): JSX.Element {
  const model = useRun();
  const run = model.run.value as RunDocument;
  const isGone = run.deleted_ns !== null;
  const config = useMemo(() => branchesOf(run.config), [run.config]);
  const others = useMemo(() => branchesOf(otherResults(run.summary, run.keys)), [run.summary, run.keys]);
  const error = run.attempts.at(-1)?.error ?? null;
  return (
    <div class="overview">
      <div class="overview-main">
        {error && <Failure error={error} />}
        {!isGone && <Alerts />}
        {!isGone && <Metrics run={run} />}
        {others.length > 0 && (
          <section class="card" aria-label="Results">
            <div class="card-head">
              <h2>Results</h2>
              <div class="card-end">
                <CopyButton
                  text={() => JSON.stringify(otherResults(run.summary, run.keys), null, 2)}
                  label="Copy as JSON"
                />
              </div>
            </div>
            <div class="card-body">
              <Tree label="results" branches={others} />
            </div>
          </section>
        )}
        {run.keys.length === 0 && !isGone && (
          <section class="card overview-none">
            <h2>{run.state === "running" ? "Nothing was logged yet" : "Nothing was logged"}</h2>
            <p class="quiet">
              {run.state === "running"
                ? "What the run logs shows up here as it comes:"
                : "The run ended without a metric. This logs one:"}
            </p>
            <pre class="hint">run.log({'{"loss": 0.5}'})</pre>
          </section>
        )}
        <Code metadata={run.metadata} />
      </div>
      <div class="overview-side">
        <About run={run} />
        {!isGone && <Forks run={run} />}
        <section class="card" aria-label="Config">
          <div class="card-head">
            <h2>Config</h2>
            <div class="card-end">
              <CopyButton text={() => JSON.stringify(run.config, null, 2)} label="Copy as JSON" />
            </div>
          </div>
          <div class="card-body">
            <Tree
              label="config"
              branches={config}
              empty="No config was given. strobe.init(config={…}) sets it."
            />
          </div>
        </section>
        <Attempts run={run} />
        <Environment metadata={run.metadata} />
        <Packages metadata={run.metadata} />
      </div>
    </div>
  );
}

function Failure({ error }: { error: string }): JSX.Element {
  const lines = error.trimEnd().split("\n");
  return (
    <section class="card failure" aria-label="How it failed">
      <div class="failure-head">
        <Icon name="warning" />
        <strong>{lines.at(-1)}</strong>
        <CopyButton text={error} label="Copy the traceback" />
      </div>
      {lines.length > 1 && (
        <details>
          <summary>Traceback</summary>
          <pre {...SCROLLS}>{error.trimEnd()}</pre>
        </details>
      )}
    </section>
  );
}

const ICONS = { INFO: "info", WARN: "bell", ERROR: "warning" } as const;

const ALERTS = 50;
/** What the server gives at once. */
const MOST_ALERTS = 1000;

function Alerts(): JSX.Element | null {
  const model = useRun();
  const [limit, setLimit] = useState(ALERTS);
  const { value } = useFresh<Paged<LoggedAlert>>(model.api("alerts"), { limit });
  const now = model.now.value;
  if (!value || value.items.length === 0) return null;
  return (
    <section class="card" aria-label="Alerts">
      <div class="card-head">
        <h2>Alerts</h2>
        <span class="quiet">
          {value.cursor === null ? value.items.length : `the latest ${value.items.length}`}
        </span>
        {value.cursor !== null && limit < MOST_ALERTS && (
          <div class="card-end">
            <Button kind="quiet" onClick={() => setLimit(MOST_ALERTS)}>
              Show more
            </Button>
          </div>
        )}
      </div>
      <ul class="alerts">
        {value.items.map((alert) => (
          <li key={alert.id} class={`alert alert-${alert.level.toLowerCase()}`}>
            <Icon name={ICONS[alert.level] ?? "bell"} />
            <div>
              <strong>{alert.title}</strong>
              {alert.text && <p>{alert.text}</p>}
            </div>
            <time
              dateTime={new Date(alert.time_ns / 1e6).toISOString()}
              title={dateTime(alert.time_ns / 1e6)}
            >
              {relativeTime(alert.time_ns / 1e6, now)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}
