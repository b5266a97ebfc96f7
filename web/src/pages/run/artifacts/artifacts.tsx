// The artifacts that the run logged and used, where they came from and went to, and one of them in full.

import type { JSX } from "preact";
import { bytes, counted } from "../../../series/format";
import type { Paged } from "../../../server/types";
import { Icon } from "../../../ui/icon";
import { Badge, EmptyState, ErrorNote } from "../../../ui/note";
import type { ArtifactVersion } from "../documents";
import { useFresh, useRun } from "../model";
import { setParams, useParam } from "../params";
import { Lineage } from "./lineage-view";
import { VersionView } from "./version";
import "./artifacts.css";

export function Artifacts(): JSX.Element {
  const model = useRun();
  const logged = useFresh<Paged<ArtifactVersion>>(model.api("artifacts"), { role: "logged" });
  const used = useFresh<Paged<ArtifactVersion>>(model.api("artifacts"), { role: "used" });
  const [chosen] = useParam("version");
  const onVersion = (id: string): void => setParams({ version: id, file: null }, false);
  const problem = logged.problem ?? used.problem;
  if (problem) return <ErrorNote error={problem} onRetry={logged.reload} />;
  if (!logged.value || !used.value) return <div aria-busy="true" />;
  if (logged.value.items.length + used.value.items.length === 0) {
    return (
      <EmptyState title="No artifacts" icon="group">
        <p>Datasets and models that the run logs or uses show up here, with what they came from:</p>
        <pre class="hint">run.log_artifact("model.pt", type="model")</pre>
      </EmptyState>
    );
  }
  const first = logged.value.items[0] ?? used.value.items[0];
  const shown = chosen || first?.id || "";
  return (
    <div class="artifacts">
      <Lineage chosen={shown} onVersion={onVersion} />
      <div class="artifacts-parts">
        <div class="artifacts-lists">
          <List title="Logged" items={logged.value.items} chosen={shown} onVersion={onVersion} />
          <List title="Used" items={used.value.items} chosen={shown} onVersion={onVersion} />
        </div>
        {shown && <VersionView key={shown} id={shown} onVersion={onVersion} />}
      </div>
    </div>
  );
}

function List(props: {
  title: string;
  items: readonly ArtifactVersion[];
  chosen: string;
  onVersion: (id: string) => void;
}): JSX.Element | null {
  const { title, items, chosen } = props;
  if (items.length === 0) return null;
  return (
    <section class="card" aria-label={`${title} artifacts`}>
      <div class="card-head">
        <h2>{title}</h2>
        <span class="quiet">{counted(items.length, "version")}</span>
      </div>
      <ul class="artifact-list">
        {items.map((version) => (
          <li key={version.id}>
            <button
              type="button"
              class="artifact"
              aria-current={version.id === chosen ? "true" : undefined}
              onClick={() => props.onVersion(version.id)}
            >
              <Icon name="group" />
              <span class="artifact-name">
                <span class="cut">
                  {version.name}:v{version.number}
                </span>
                <span class="quiet">
                  {version.type}, {bytes(version.size)}
                </span>
              </span>
              <span class="artifact-aliases">
                {version.aliases.map((alias) => (
                  <Badge key={alias} tone="accent">
                    {alias}
                  </Badge>
                ))}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
