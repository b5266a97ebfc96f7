// How much projects keep, the largest first; for whoever runs the server, how large its store is.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "../../app/navigation";
import { server } from "../../app/session";
import { bytes, count, counted, percent } from "../../series/format";
import { get, returns } from "../../server/client";
import { EmptyState, ErrorNote } from "../../ui/note";
import type { ProjectUsage, Usage } from "./documents";

const PAGE = 200;

export function Storage(): JSX.Element {
  const [usage, setUsage] = useState<Usage | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const back = returns.value;
  useEffect(() => {
    const abort = new AbortController();
    readUsage(abort.signal, setUsage).catch((error: Error) => !abort.signal.aborted && setProblem(error));
    return () => abort.abort();
  }, [round, back]);
  if (problem) return <ErrorNote error={problem} onRetry={() => setRound(round + 1)} />;
  if (usage === null) return <div aria-busy="true" />;
  const items = [...usage.items].sort((a, b) => b.used_bytes - a.used_bytes);
  const total = items.reduce((sum, one) => sum + one.used_bytes, 0);
  const isLocal = server.value?.auth === false;
  return (
    <section class="settings-part" aria-label="Storage">
      <dl class="figures">
        <div>
          <dt>{isLocal ? "Logged" : "Kept by projects"}</dt>
          <dd>{bytes(total)}</dd>
        </div>
        {usage.database_bytes !== null && (
          <div>
            <dt>{isLocal ? "Index" : "Database"}</dt>
            <dd>{bytes(usage.database_bytes)}</dd>
          </div>
        )}
        {usage.blob_bytes !== null && !isLocal && (
          <div>
            <dt>Files, each content once</dt>
            <dd>{bytes(usage.blob_bytes)}</dd>
          </div>
        )}
      </dl>
      {items.length === 0 ? (
        <EmptyState title="Nothing is kept yet" icon="folder" />
      ) : (
        <div class="settings-table">
          <table>
            <thead>
              <tr>
                <th scope="col">Project</th>
                <th scope="col" class="settings-number">
                  Runs
                </th>
                <th scope="col" class="settings-number">
                  Keeps
                </th>
                <th scope="col">Share, or of its quota</th>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => (
                <Row key={`${one.entity}/${one.name}`} one={one} total={total} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="quiet">
        {isLocal ? (
          <>
            What runs logged, as the index counts it. <code>strobe du</code> measures the home on the disk,
            files and artifacts too.
          </>
        ) : (
          `What runs logged, their files and artifacts, of ${counted(items.length, "project")} that you may see. A project's quota is set under Projects.`
        )}
        {usage.cursor !== null && " More is being read."}
      </p>
    </section>
  );
}

async function readUsage(abort: AbortSignal, onPart: (usage: Usage) => void): Promise<void> {
  const items: ProjectUsage[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const part: Usage = await get("/usage", { limit: PAGE, cursor: cursor || null }, abort);
    items.push(...part.items);
    cursor = part.cursor;
    onPart({ ...part, items: [...items] });
  }
}

function Row({ one, total }: { one: ProjectUsage; total: number }): JSX.Element {
  const whole = one.quota_bytes ?? total;
  const share = whole === 0 ? 0 : one.used_bytes / whole;
  const isTight = one.quota_bytes !== null && share >= 0.9;
  return (
    <tr>
      <th scope="row">
        <Link to={{ name: "workspace", entity: one.entity, project: one.name }}>
          {one.entity}/{one.name}
        </Link>
      </th>
      <td class="settings-number" data-name="Runs">
        {count(one.num_runs)}
      </td>
      <td class="settings-number" data-name="Keeps">
        {bytes(one.used_bytes)}
      </td>
      <td data-name="Share">
        <span class="share">
          <span class="share-track" aria-hidden="true">
            <span class={isTight ? "share-tight" : ""} style={{ width: `${Math.min(1, share) * 100}%` }} />
          </span>
          {percent(share, 2)}
          {one.quota_bytes !== null && <span class="quiet"> of {bytes(one.quota_bytes)}</span>}
        </span>
      </td>
    </tr>
  );
}
