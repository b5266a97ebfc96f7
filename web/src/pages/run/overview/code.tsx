// How it was started and from which code: the command, how to run it again, the commit, and what was changed since.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, counted } from "../../../series/format";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { Badge, CopyButton } from "../../../ui/note";
import { SCROLLS, scrollRegion } from "../scrolls";
import { type DiffFile, type DiffLine, parseDiff } from "./diff";
import { reproductionOf } from "./reproduce";

export type Metadata = Readonly<Record<string, unknown>>;

/** Longer files are closed at first. */
const SHORT = 60;
const MOST_LINES = 2000;

export function Code({ metadata }: { metadata: Metadata }): JSX.Element | null {
  const again = useMemo(() => reproductionOf(metadata), [metadata]);
  const diff = typeof metadata.git_diff === "string" ? metadata.git_diff : "";
  const files = useMemo(() => parseDiff(diff), [diff]);
  const commit = typeof metadata.git_commit === "string" ? metadata.git_commit : null;
  if (again === null && commit === null) return null;
  const untracked = Array.isArray(metadata.git_untracked) ? metadata.git_untracked.map(String) : [];
  const command = typeof metadata.command === "string" ? metadata.command : null;
  return (
    <section class="card" aria-label="Code">
      <div class="card-head">
        <h2>Code</h2>
      </div>
      <div class="card-body code">
        {command && <Snippet title="Command" text={command} />}
        {commit && (
          <p class="code-commit">
            <Icon name="code" />
            <code title={commit}>{commit.slice(0, 12)}</code>
            <CopyButton text={commit} label="Copy the commit" />
            {typeof metadata.git_branch === "string" && <Badge>{metadata.git_branch}</Badge>}
            {typeof metadata.git_remote === "string" && (
              <span class="quiet cut" title={metadata.git_remote}>
                {metadata.git_remote}
              </span>
            )}
            {metadata.git_dirty === true && (
              <Badge tone="warn" title="Tracked files differed from the commit">
                uncommitted changes
              </Badge>
            )}
          </p>
        )}
        {files.length > 0 && <Diff files={files} text={diff} isCut={metadata.git_diff_cut === true} />}
        {untracked.length > 0 && (
          <details class="code-untracked">
            <summary>
              {counted(Number(metadata.git_untracked_count ?? untracked.length), "file")} that git does not
              track
            </summary>
            <pre {...SCROLLS}>{untracked.join("\n")}</pre>
            {metadata.git_untracked_cut === true && (
              <p class="quiet">Showing the first {count(untracked.length)}; more names are not kept.</p>
            )}
          </details>
        )}
        {again && (
          <>
            <Snippet title="Run it again" text={again.lines.join("\n")} />
            {again.warnings.map((warning) => (
              <p key={warning} class="quiet">
                {warning}
              </p>
            ))}
          </>
        )}
      </div>
    </section>
  );
}

export function Snippet({ title, text }: { title: string; text: string }): JSX.Element {
  return (
    <figure class="code-snippet">
      <figcaption>
        {title}
        <CopyButton text={text} label={`Copy: ${title.toLowerCase()}`} />
      </figcaption>
      <pre {...SCROLLS}>{text}</pre>
    </figure>
  );
}

function Diff({ files, text, isCut }: { files: DiffFile[]; text: string; isCut: boolean }): JSX.Element {
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <section class="diff" aria-label="Uncommitted changes">
      <div class="diff-sum">
        <span>
          {counted(files.length, "file")} changed, <span class="diff-added">+{count(added)}</span>{" "}
          <span class="diff-removed">−{count(removed)}</span>
        </span>
        {isCut && <Badge tone="warn">cut after 1 MiB</Badge>}
        <CopyButton text={text} label="Copy the diff" />
      </div>
      {files.map((file) => (
        <DiffOfFile key={file.path} file={file} isOpen={file.lines.length <= SHORT && files.length <= 10} />
      ))}
    </section>
  );
}

function DiffOfFile({ file, isOpen }: { file: DiffFile; isOpen: boolean }): JSX.Element {
  const [isShown, setShown] = useState(isOpen);
  const [isWhole, setWhole] = useState(false);
  const lines = isWhole ? file.lines : file.lines.slice(0, MOST_LINES);
  return (
    <div class="diff-file">
      <button type="button" class="diff-name" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        <Icon name={isShown ? "chevronDown" : "chevronRight"} size={12} />
        <span class="mono cut">{file.from === null ? file.path : `${file.from} → ${file.path}`}</span>
        {file.change !== "changed" && <span class="quiet">{file.change}</span>}
        <span class="diff-counts">
          <span class="diff-added">+{count(file.added)}</span>{" "}
          <span class="diff-removed">−{count(file.removed)}</span>
        </span>
      </button>
      {isShown && (
        <div class="diff-lines" {...scrollRegion(`Changes of ${file.path}`)}>
          <div class="diff-all">
            {lines.map((line, index) => (
              <Row key={index} line={line} />
            ))}
          </div>
          {lines.length < file.lines.length && (
            <Button kind="quiet" onClick={() => setWhole(true)}>
              Showing {count(lines.length)} of {count(file.lines.length)} lines: show all
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

const SIGN = { add: "+", remove: "−", same: " ", hunk: "", note: "" } as const;

function Row({ line }: { line: DiffLine }): JSX.Element {
  return (
    <div class={`diff-line diff-${line.kind}`}>
      <span class="diff-number">{line.before ?? ""}</span>
      <span class="diff-number">{line.after ?? ""}</span>
      <span class="diff-sign">{SIGN[line.kind]}</span>
      <span class="diff-text">{line.text || " "}</span>
    </div>
  );
}
