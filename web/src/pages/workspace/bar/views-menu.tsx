// Saved views: the view under a name, for everybody who sees the project. A view that somebody else changed meanwhile is
// not overwritten unasked.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { pathOf } from "../../../app/route";
import { dateTime } from "../../../series/format";
import { useAnswer } from "../../../server/answer";
import { place, post, put, remove, ServerProblem } from "../../../server/client";
import type { Paged, SavedView } from "../../../server/types";
import { Button, IconButton } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { Icon } from "../../../ui/icon";
import { copyText } from "../../../ui/note";
import { Popover } from "../../../ui/popover";
import { say, sayError } from "../../../ui/toast";
import { decodeView, encodeView } from "../../../view/codec";
import { searchOf } from "../saved-view";
import { useWorkspace } from "../workspace";

export function ViewsMenu(): JSX.Element {
  const workspace = useWorkspace();
  const path = place("projects", workspace.entity, workspace.project, "views");
  const { value, problem, reload } = useAnswer<Paged<SavedView>>(path);
  const views = value?.items ?? [];
  const text = encodeView(workspace.view.value);
  const current = views.find((view) => searchOf(view) === text);
  const [chosen, setChosen] = useState<string | null>(null);
  const last = views.find((view) => view.name === chosen);
  return (
    <Popover
      label="Views"
      align="end"
      trigger={(props) => (
        <Button {...props} icon="star" data-tool="views" title="Saved views" class="bar-view">
          <span class="cut">{current?.name ?? (last ? `${last.name}, changed` : "Views")}</span>
        </Button>
      )}
    >
      {(close) => (
        <ViewsList
          {...{ views, current, last, path, text, reload, problem, close }}
          onChosen={(view) => {
            setChosen(view.name);
            workspace.address.show(decodeView(searchOf(view)).view);
          }}
          onSaved={(name) => setChosen(name)}
        />
      )}
    </Popover>
  );
}

interface ViewsListProps {
  readonly views: readonly SavedView[];
  readonly current: SavedView | undefined;
  /** The view that was shown last, if this one came from it. */
  readonly last: SavedView | undefined;
  readonly path: string;
  readonly text: string;
  readonly problem: Error | null;
  readonly reload: () => void;
  readonly close: () => void;
  readonly onChosen: (view: SavedView) => void;
  readonly onSaved: (name: string) => void;
}

function ViewsList(props: ViewsListProps): JSX.Element {
  const { views, current, last, path, text, reload, close } = props;
  const { entity, project } = useWorkspace();
  const [name, setName] = useState("");
  const [renamed, setRenamed] = useState<SavedView | null>(null);
  const address = (view: SavedView): string => `${path}/${encodeURIComponent(view.name)}`;
  const done = (said: string): void => {
    say(said, { tone: "good" });
    reload();
  };
  const told = (error: unknown): void => {
    if (error instanceof ServerProblem && error.status === 409) {
      sayError(new Error(`${error.message} The list is up to date now: look at it, then save again.`));
      reload();
    } else sayError(error);
  };
  const saveNew = async (): Promise<void> => {
    const wanted = name.trim();
    if (!wanted) return;
    try {
      await post<SavedView>(path, { name: wanted, document: { search: text } });
      props.onSaved(wanted);
      close();
      done(`Saved as ${wanted}`);
    } catch (error) {
      told(error);
    }
  };
  const update = async (view: SavedView): Promise<void> => {
    try {
      await put<SavedView>(address(view), { version: view.version, document: { search: text } });
      close();
      done(`Saved ${view.name}`);
    } catch (error) {
      told(error);
    }
  };
  const rename = async (view: SavedView, to: string): Promise<void> => {
    setRenamed(null);
    if (!to.trim() || to === view.name) return;
    try {
      await put<SavedView>(address(view), { version: view.version, name: to.trim() });
      done(`Renamed to ${to.trim()}`);
    } catch (error) {
      told(error);
    }
  };
  const drop = async (view: SavedView): Promise<void> => {
    try {
      await remove(address(view), { version: view.version });
      say(`Deleted the view ${view.name}`, {
        action: {
          title: "Undo",
          run: () =>
            void post<SavedView>(path, { name: view.name, document: view.document }).then(reload, told),
        },
      });
      reload();
    } catch (error) {
      told(error);
    }
  };
  return (
    <div class="views">
      {props.problem && <p class="panel-bad">{props.problem.message}</p>}
      {views.length === 0 && <p class="quiet views-save">No view is saved yet.</p>}
      {views.map((view) =>
        renamed?.name === view.name ? (
          <RenameField key={view.name} view={view} onDone={(to) => void rename(view, to)} />
        ) : (
          <div key={view.name} class="views-row">
            <button
              type="button"
              class="menu-item"
              title={`Saved by ${view.changed_by || view.owner}, ${dateTime(view.changed_ns / 1e6)}`}
              onClick={() => {
                close();
                props.onChosen(view);
              }}
            >
              <span class="menu-mark">{view === current && <Icon name="check" />}</span>
              <span class="cut menu-item-title">{view.name}</span>
            </button>
            <IconButton
              icon="link"
              label={`Copy a short link to ${view.name}`}
              onClick={() => {
                close();
                const short = pathOf({ name: "view", entity, project, view: view.name });
                copyLink(location.origin + short, `Link to ${view.name} copied: it shows the view as saved`);
              }}
            />
            <IconButton icon="edit" label={`Rename ${view.name}`} onClick={() => setRenamed(view)} />
            <IconButton icon="trash" label={`Delete ${view.name}`} onClick={() => void drop(view)} />
          </div>
        ),
      )}
      <hr class="menu-line" />
      {last && last !== current && (
        <button type="button" class="menu-item" onClick={() => void update(last)}>
          <Icon name="check" />
          <span class="cut menu-item-title">Save the changes to {last.name}</span>
        </button>
      )}
      <form
        class="views-save"
        onSubmit={(event) => {
          event.preventDefault();
          void saveNew();
        }}
      >
        <TextField
          label="Name of the view"
          placeholder="Save this view as"
          value={name}
          onInput={setName}
          autofocus
        />
        <Button kind="primary" type="submit" disabled={!name.trim()}>
          Save
        </Button>
      </form>
      <button
        type="button"
        class="menu-item"
        onClick={() => {
          close();
          copyLink(location.href, "Link copied");
        }}
      >
        <Icon name="link" />
        <span class="menu-item-title">Copy a link to this view</span>
      </button>
    </div>
  );
}

function copyLink(address: string, said: string): void {
  void copyText(address).then(() => say(said, { tone: "good" }), sayError);
}

function RenameField({ view, onDone }: { view: SavedView; onDone: (name: string) => void }): JSX.Element {
  const [name, setName] = useState(view.name);
  return (
    <form
      class="views-save"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(name);
      }}
    >
      <TextField label={`New name of ${view.name}`} value={name} onInput={setName} autofocus />
      <Button type="submit">Rename</Button>
    </form>
  );
}
