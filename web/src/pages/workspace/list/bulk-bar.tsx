// What can be done with the selected runs, shown while there are any.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../../series/format";
import { Button, IconButton } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { Popover } from "../../../ui/popover";
import type { Workspace } from "../workspace";
import { compareRuns, deleteRuns, tagRuns } from "./actions";
import { showOnly } from "./eyes";

export function BulkBar({ workspace }: { workspace: Workspace }): JSX.Element | null {
  const { selected } = workspace.view.value.runs;
  const [tag, setTag] = useState("");
  if (selected.length === 0) return null;
  const runs = () => selected.map((id) => workspace.find(id)).filter((run) => run !== undefined);
  return (
    <div class="bulk" role="toolbar" aria-label="Selected runs">
      <strong>{counted(selected.length, "run")} selected</strong>
      <div class="bulk-actions">
        <Button
          icon="compare"
          disabled={selected.length < 2}
          onClick={() => compareRuns(workspace, selected)}
        >
          Compare
        </Button>
        <Popover
          label="Tag the selected runs"
          trigger={(props) => (
            <Button {...props} icon="tag">
              Tag
            </Button>
          )}
        >
          {(close) => (
            <form
              class="bulk-tag"
              onSubmit={(event) => {
                event.preventDefault();
                if (tag.trim()) void tagRuns(workspace, runs(), tag.trim());
                setTag("");
                close();
              }}
            >
              <TextField label="Tag" placeholder="Tag to add" value={tag} onInput={setTag} autofocus />
              <Button kind="primary" type="submit" disabled={!tag.trim()}>
                Add
              </Button>
            </form>
          )}
        </Popover>
        <IconButton
          icon="eye"
          label="Show only these"
          onClick={() => workspace.changeRuns(showOnly(selected))}
        />
        <IconButton icon="trash" label="Delete" onClick={() => void deleteRuns(workspace, runs())} />
        <IconButton
          icon="close"
          label="Clear the selection"
          onClick={() => workspace.changeRuns({ selected: [] }, { replace: true })}
        />
      </div>
    </div>
  );
}
