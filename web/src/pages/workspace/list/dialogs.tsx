// What the list asks before it does something, and the editor of tags and notes.

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { RunItem } from "../../../server/types";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { TextField } from "../../../ui/field";
import type { Workspace } from "../workspace";
import { editRun, stopRun } from "./actions";
import { type Editable, type RowDialogs, tagsOf } from "./row-actions";
import type { Row } from "./rows";

type Asked =
  | { readonly kind: "stop"; readonly run: RunItem }
  | { readonly kind: "edit"; readonly run: RunItem };

export interface DialogsNow {
  readonly open: RowDialogs;
  /** What is being changed in its place. */
  readonly editing: { readonly id: string; readonly what: Editable } | null;
  readonly asked: Asked | null;
  readonly close: () => void;
}

export function useDialogs(workspace: Workspace, rows: readonly Row[]): DialogsNow {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [editing, setEditing] = useState<DialogsNow["editing"]>(null);
  const latest = useRef(rows);
  latest.current = rows;
  const open = useMemo<RowDialogs>(
    () => ({
      beginEdit: (run, what) => setEditing(run === null ? null : { id: run.id, what }),
      edit: (run) => setAsked({ kind: "edit", run }),
      confirmStop: (run) => setAsked({ kind: "stop", run }),
      between(to) {
        const ids = latest.current.flatMap((row) => (row.kind === "run" ? [row.id] : []));
        const from = Math.max(0, ids.indexOf(workspace.cursor.peek() ?? to.id));
        const end = ids.indexOf(to.id);
        return ids.slice(Math.min(from, end), Math.max(from, end) + 1);
      },
    }),
    [workspace],
  );
  return { open, editing, asked, close: () => setAsked(null) };
}

export function ListDialogs({
  workspace,
  dialogs,
}: {
  workspace: Workspace;
  dialogs: DialogsNow;
}): JSX.Element | null {
  const { asked, close } = dialogs;
  if (asked === null) return null;
  if (asked.kind === "edit") return <EditRun workspace={workspace} run={asked.run} onClose={close} />;
  const { run } = asked;
  return (
    <Dialog
      title={`Stop ${run.name}?`}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Let it run</Button>
          <Button
            kind="danger"
            icon="stop"
            onClick={() => {
              close();
              void stopRun(workspace, run);
            }}
          >
            Stop the run
          </Button>
        </>
      }
    >
      <p class="dialog-body">
        Its process is told with its next sign of life, within seconds, and ends as it does after Ctrl-C. What
        it logged stays.
      </p>
    </Dialog>
  );
}

function EditRun({
  workspace,
  run,
  onClose,
}: {
  workspace: Workspace;
  run: RunItem;
  onClose: () => void;
}): JSX.Element {
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(", "));
  const [notes, setNotes] = useState(run.notes);
  const save = (): void => {
    onClose();
    const list = tagsOf(tags);
    void editRun(workspace, run, {
      ...(name.trim() && name !== run.name && { name: name.trim() }),
      ...(list.join() !== run.tags.join() && { tags: list }),
      ...(notes !== run.notes && { notes }),
    });
  };
  return (
    <Dialog
      title="Name, tags and notes"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" onClick={save}>
            Save
          </Button>
        </>
      }
    >
      <div class="dialog-body edit-run">
        <TextField label="Name" isLabelShown value={name} onInput={setName} onEnter={save} autofocus />
        <TextField
          label="Tags, parted by commas"
          isLabelShown
          value={tags}
          onInput={setTags}
          onEnter={save}
          placeholder="baseline, ablation"
        />
        <label class="field-label" for="edit-notes">
          Notes
        </label>
        <textarea
          id="edit-notes"
          class="edit-notes"
          rows={6}
          value={notes}
          onInput={(event) => setNotes(event.currentTarget.value)}
        />
      </div>
    </Dialog>
  );
}
