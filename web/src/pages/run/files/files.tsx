// The files of a run: a tree with sizes, and what is in the chosen one.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { bytes, counted } from "../../../series/format";
import { EmptyState, ErrorNote } from "../../../ui/note";
import type { RunFile } from "../documents";
import { useRun } from "../model";
import { useParam } from "../params";
import { useAll } from "../use-all";
import { Preview } from "./preview";
import { FileTree } from "./tree";

export function Files(): JSX.Element {
  const model = useRun();
  const { items, isWhole, problem, reload } = useAll<RunFile>(model.api("files"), 1000);
  const [chosen, setChosen] = useParam("file");
  const file = items?.find((one) => one.path === chosen);
  const size = useMemo(() => (items ?? []).reduce((sum, one) => sum + one.size, 0), [items]);
  if (problem && items === null) return <ErrorNote error={problem} onRetry={reload} />;
  if (items === null) return <div aria-busy="true" />;
  if (items.length === 0) {
    return (
      <EmptyState title="No files" icon="folder">
        <p>Media, and what the run saves, are kept here:</p>
        <pre class="hint">run.save("settings.yaml")</pre>
      </EmptyState>
    );
  }
  return (
    <div class="files">
      <section class="card files-list" aria-label="Files of the run">
        <div class="card-head">
          <h2>{counted(items.length, "file")}</h2>
          <span class="quiet">
            {bytes(size)}
            {!isWhole && " so far"}
          </span>
        </div>
        <FileTree
          label="Files"
          files={items}
          chosen={chosen}
          onChoose={(one) => setChosen(one.path, { push: true })}
        />
      </section>
      {file ? (
        <Preview
          path={file.path}
          size={file.size}
          address={model.fileAddress(file.path)}
          download={model.fileAddress(file.path, "?download=true")}
        />
      ) : (
        <p class="quiet files-hint">
          {chosen && isWhole ? `There is no file ${chosen}.` : "Choose a file to look at it."}
        </p>
      )}
    </div>
  );
}
