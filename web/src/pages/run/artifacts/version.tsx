// One version of an artifact: what is said of it, its other versions, its files.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Link } from "../../../app/navigation";
import { bytes, counted, dateTime, relativeTime } from "../../../series/format";
import { useAnswer } from "../../../server/answer";
import { place } from "../../../server/client";
import type { Paged } from "../../../server/types";
import { Select } from "../../../ui/field";
import { Badge, CopyButton, ErrorNote } from "../../../ui/note";
import { Tree } from "../../../ui/tree";
import { branchesOf } from "../../../ui/tree-rows";
import type { ArtifactEntry, ArtifactVersion } from "../documents";
import { Preview } from "../files/preview";
import { FileTree } from "../files/tree";
import { useRun } from "../model";
import { useParam } from "../params";
import { useAll } from "../use-all";

export function VersionView({
  id,
  onVersion,
}: {
  id: string;
  onVersion: (id: string) => void;
}): JSX.Element | null {
  const model = useRun();
  const { value: version, problem, reload } = useAnswer<ArtifactVersion>(place("artifact-versions", id));
  const all = useAnswer<Paged<ArtifactVersion>>(
    version
      ? `${place("artifacts", version.entity, version.project, "collections", version.name)}/versions`
      : null,
  );
  const metadata = useMemo(() => branchesOf(version?.metadata ?? {}), [version]);
  if (problem) return <ErrorNote error={problem} onRetry={reload} />;
  if (!version) return null;
  const path = `${version.entity}/${version.project}/${version.name}:v${version.number}`;
  const made = version.logged_by?.split("/") ?? null;
  const others = all.value?.items ?? [version];
  const code = `run.use_artifact("${path}").download()`;
  return (
    <section class="card" aria-label={`Artifact ${version.name}`}>
      <div class="card-head">
        <h2 class="cut" title={path}>
          {version.name}
        </h2>
        <Select
          label="Version"
          value={version.id}
          options={others.map((one) => ({
            value: one.id,
            title: `v${one.number}${one.id === version.id ? "" : names(one)}`,
          }))}
          onChange={onVersion}
        />
        {version.aliases.map((alias) => (
          <Badge key={alias} tone="accent">
            {alias}
          </Badge>
        ))}
        <div class="card-end">
          <CopyButton text={path} label="Copy the name of the version" />
        </div>
      </div>
      <div class="card-body version">
        {version.deleted_ns !== null && <Badge tone="warn">deleted</Badge>}
        {version.description && <p>{version.description}</p>}
        <dl class="facts">
          <div>
            <dt>Type</dt>
            <dd>{version.type}</dd>
          </div>
          <div>
            <dt>Logged</dt>
            <dd title={dateTime(version.created_ns / 1e6)}>
              {relativeTime(version.created_ns / 1e6, model.now.value)}
              {made?.length === 3 && (
                <>
                  {" by "}
                  <Link
                    to={{
                      name: "run",
                      entity: made[0] as string,
                      project: made[1] as string,
                      run: made[2] as string,
                      tab: "",
                    }}
                  >
                    {made[2]}
                  </Link>
                </>
              )}
              {version.step !== null && ` at step ${version.step}`}
            </dd>
          </div>
          <div>
            <dt>Size</dt>
            <dd>
              {bytes(version.size)} in {counted(version.num_files, "file")}
            </dd>
          </div>
          <div>
            <dt>Digest</dt>
            <dd class="mono">{version.digest}</dd>
          </div>
          {version.tags.length > 0 && (
            <div>
              <dt>Tags</dt>
              <dd>{version.tags.join(", ")}</dd>
            </div>
          )}
        </dl>
        <p class="version-code">
          <code class="cut" title={code}>
            {code}
          </code>
          <CopyButton text={code} label="Copy the line that uses it" />
        </p>
        {metadata.length > 0 && (
          <div>
            <h3>Metadata</h3>
            <Tree label="metadata" branches={metadata} />
          </div>
        )}
        {version.deleted_ns === null && <Entries key={version.id} version={version} />}
      </div>
    </section>
  );
}

function names(version: ArtifactVersion): string {
  return version.aliases.length > 0 ? ` (${version.aliases.join(", ")})` : "";
}

function Entries({ version }: { version: ArtifactVersion }): JSX.Element {
  const at = place(
    "artifacts",
    version.entity,
    version.project,
    "collections",
    version.name,
    "versions",
    `v${version.number}`,
  );
  const { items, problem, reload } = useAll<ArtifactEntry>(`${at}/entries`, 1000);
  const [chosen, setChosen] = useParam("file");
  if (problem) return <ErrorNote error={problem} onRetry={reload} />;
  const entry = items?.find((one) => one.path === chosen);
  const address = (path: string): string =>
    `/api/v1${at}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
  return (
    <div class="version-files">
      <h3>Files</h3>
      {items && (
        <FileTree
          label="Files of the version"
          files={items}
          chosen={chosen}
          onChoose={(one) => setChosen(one.path)}
        />
      )}
      {entry &&
        (entry.sha256 === null ? (
          <p>
            Kept elsewhere: <code>{entry.ref}</code>
          </p>
        ) : (
          <Preview
            path={entry.path}
            size={entry.size ?? 0}
            address={address(entry.path)}
            download={`${address(entry.path)}?download=true`}
          />
        ))}
    </div>
  );
}
