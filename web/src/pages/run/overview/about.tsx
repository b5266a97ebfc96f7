// What people say of a run: tags, notes, group; when it began and ended; what it came from.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../../app/session";
import { dateTime } from "../../../series/format";
import type { RunDocument } from "../../../server/types";
import { Button, IconButton } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { useRun } from "../model";

export function About({ run }: { run: RunDocument }): JSX.Element {
  const canWrite = may("write") && run.deleted_ns === null;
  return (
    <section class="card" aria-label="About">
      <div class="card-body about">
        <Tags run={run} canWrite={canWrite} />
        <Notes run={run} canWrite={canWrite} />
        <dl class="facts">
          <Fact name="Started">{run.started_ns ? dateTime(run.started_ns / 1e6) : "not yet"}</Fact>
          <Fact name="Ended">{run.ended_ns ? dateTime(run.ended_ns / 1e6) : "–"}</Fact>
          {run.group && <Fact name="Group">{run.group}</Fact>}
          {run.job_type && <Fact name="Job type">{run.job_type}</Fact>}
          {run.host && <Fact name="Host">{run.host}</Fact>}
          {run.user && <Fact name="User">{run.user}</Fact>}
        </dl>
      </div>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Tags({ run, canWrite }: { run: RunDocument; canWrite: boolean }): JSX.Element | null {
  const model = useRun();
  const [isAdding, setAdding] = useState(false);
  const [text, setText] = useState("");
  const tags = run.tags.map(String);
  const add = (): void => {
    const tag = text.trim();
    if (tag && !tags.includes(tag)) void model.edit({ tags: [...tags, tag] });
    setText("");
  };
  if (tags.length === 0 && !canWrite) return null;
  return (
    <div class="tags">
      <ul class="tag-list" aria-label="Tags">
        {tags.map((tag) => (
          <li key={tag} class="tag">
            <span class="cut">{tag}</span>
            {canWrite && (
              <IconButton
                icon="close"
                label={`Remove the tag ${tag}`}
                onClick={() => void model.edit({ tags: tags.filter((one) => one !== tag) })}
              />
            )}
          </li>
        ))}
      </ul>
      {canWrite &&
        (isAdding ? (
          <TextField
            label="New tag"
            placeholder="Tag, then Enter"
            value={text}
            onInput={setText}
            onEnter={add}
            inputRef={(field: HTMLInputElement | null) => field?.focus()}
            onKeyDown={(event) => {
              if (event.key === "Escape") setAdding(false);
            }}
            attributes={{
              onBlur: () => {
                add();
                setAdding(false);
              },
            }}
          />
        ) : (
          <Button
            kind="quiet"
            icon="tag"
            class={tags.length === 0 ? "tag-add" : ""}
            onClick={() => setAdding(true)}
          >
            {tags.length === 0 ? "Add a tag" : "Tag"}
          </Button>
        ))}
    </div>
  );
}

function Notes({ run, canWrite }: { run: RunDocument; canWrite: boolean }): JSX.Element | null {
  const model = useRun();
  const [draft, setDraft] = useState<string | null>(null);
  if (draft === null) {
    if (!run.notes) {
      return canWrite ? (
        <Button kind="quiet" icon="edit" class="notes-add" onClick={() => setDraft("")}>
          Add notes
        </Button>
      ) : null;
    }
    return (
      <div class="notes">
        <p class="notes-text">{run.notes}</p>
        {canWrite && <IconButton icon="edit" label="Edit the notes" onClick={() => setDraft(run.notes)} />}
      </div>
    );
  }
  const save = (): void => {
    if (draft !== run.notes) void model.edit({ notes: draft });
    setDraft(null);
  };
  return (
    <div class="notes-edit">
      <textarea
        class="notes-field"
        aria-label="Notes"
        rows={5}
        value={draft}
        ref={(area) => area?.focus()}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setDraft(null);
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save();
        }}
      />
      <div class="notes-actions">
        <Button kind="primary" onClick={save}>
          Save
        </Button>
        <Button onClick={() => setDraft(null)}>Cancel</Button>
      </div>
    </div>
  );
}
