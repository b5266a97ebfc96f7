// Who the run is: name, state, when, where; and what can be done to it.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { go } from "../../app/navigation";
import { may } from "../../app/session";
import { type Command, useCommands } from "../../keys/commands";
import { staleSince } from "../../runs/stale";
import { dateTime, duration, relativeTime } from "../../series/format";
import { runColour } from "../../series/palette";
import { post, remove } from "../../server/client";
import type { RunDocument } from "../../server/types";
import { Button, IconButton } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { InlineEdit } from "../../ui/inline-edit";
import { Badge, CopyButton, StateDot } from "../../ui/note";
import { say, sayError } from "../../ui/toast";
import { type RunModel, useRun } from "./model";

export function RunHeader(): JSX.Element {
  const model = useRun();
  const run = model.run.value as RunDocument;
  const [isNaming, setNaming] = useState(false);
  const [isStopping, setStopping] = useState(false);
  const canWrite = may("write") && run.deleted_ns === null;
  const isRunning = run.state === "running";
  useCommands(
    useMemo(
      () =>
        canWrite
          ? runCommands(
              model,
              () => setNaming(true),
              () => setStopping(true),
            )
          : [],
      [model, canWrite],
    ),
  );
  return (
    <header class="run-head">
      <div class="run-title">
        <span class="run-colour" style={{ background: runColour(run.id) }} aria-hidden="true" />
        {isNaming ? (
          <InlineEdit
            label="Name of the run"
            value={run.name}
            onDone={(name) => {
              setNaming(false);
              if (name.trim()) void model.edit({ name: name.trim() });
            }}
            onCancel={() => setNaming(false)}
          />
        ) : (
          <>
            <h1 title={run.name}>{run.name}</h1>
            {canWrite && <IconButton icon="edit" label="Rename" onClick={() => setNaming(true)} />}
          </>
        )}
        <div class="run-actions">
          {isRunning && canWrite && (
            <Button
              icon="stop"
              kind="danger"
              disabled={run.stop_by !== null}
              onClick={() => setStopping(true)}
              title={run.stop_by === null ? "Ask the run to stop" : `${run.stop_by} asked it to stop`}
            >
              {run.stop_by === null ? "Stop" : "Stopping…"}
            </Button>
          )}
          {canWrite && (
            <IconButton icon="trash" label="Delete the run" onClick={() => void deleteRun(model, run)} />
          )}
        </div>
      </div>
      <Facts run={run} model={model} />
      {isStopping && <StopDialog model={model} run={run} onClose={() => setStopping(false)} />}
    </header>
  );
}

function Facts({ run, model }: { run: RunDocument; model: RunModel }): JSX.Element {
  const now = model.now.value;
  const begun = (run.started_ns ?? run.created_ns) / 1e6;
  const end =
    run.ended_ns === null ? (run.state === "running" ? now : run.heartbeat_ns / 1e6) : run.ended_ns / 1e6;
  const stale = staleSince(run, now);
  const broken = model.brokenSince.value;
  return (
    <ul class="run-facts">
      <li>
        <StateDot state={run.state} isNamed />
        {stale !== null && (
          <Badge tone="warn" title={`Nothing was heard of it since ${dateTime(stale)}`}>
            stale since {relativeTime(stale, now)}
          </Badge>
        )}
        {broken !== null && (
          <Badge tone="warn" title="The stream of news broke off; it is being opened again">
            not live since {relativeTime(broken, now)}
          </Badge>
        )}
      </li>
      <li title={`Started ${dateTime(begun)}`}>
        <Icon name="clock" size={14} />
        {relativeTime(begun, now)}, for {duration(Math.max(0, (end - begun) / 1000))}
      </li>
      {run.host && (
        <li title="Host">
          <Icon name="monitor" size={14} />
          {run.host}
        </li>
      )}
      {run.user && (
        <li title="User">
          <Icon name="user" size={14} />
          {run.user}
        </li>
      )}
      {run.last_step !== null && <li title="Last step">step {run.last_step}</li>}
      <li class="run-id">
        <code title="Path of the run">{run.id}</code>
        <CopyButton text={model.path} label="Copy the path of the run" />
      </li>
    </ul>
  );
}

function StopDialog(props: { model: RunModel; run: RunDocument; onClose: () => void }): JSX.Element {
  const { model, run, onClose } = props;
  return (
    <Dialog
      title="Stop this run?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it running</Button>
          <Button
            kind="danger"
            icon="stop"
            autofocus
            onClick={() => {
              onClose();
              void model.stopRun();
            }}
          >
            Stop the run
          </Button>
        </>
      }
    >
      <p class="run-stop-text">
        <strong>{run.name}</strong> is asked to stop, and hears of it within seconds. What it logged stays. It
        cannot be told to go on, only started again.
      </p>
    </Dialog>
  );
}

/** Deleting asks nothing, because it can be undone. */
async function deleteRun(model: RunModel, run: RunDocument): Promise<void> {
  const { entity, project, id } = model;
  try {
    await remove(model.api());
  } catch (error) {
    sayError(error);
    return;
  }
  go({ name: "workspace", entity, project });
  say(`Deleted ${run.name}`, {
    action: {
      title: "Undo",
      run: () =>
        void post<RunDocument>(model.api("restore")).then(
          () => go({ name: "run", entity, project, run: id, tab: "" }),
          sayError,
        ),
    },
  });
}

function runCommands(model: RunModel, rename: () => void, stop: () => void): Command[] {
  const isRunning = (): boolean => {
    const run = model.run.value;
    return run?.state === "running" && run.stop_by === null;
  };
  return [
    { id: "run.rename", title: "Rename the run", group: "Run", keys: "r", run: rename },
    { id: "run.stop", title: "Stop the run", group: "Run", when: isRunning, run: stop },
    {
      id: "run.delete",
      title: "Delete the run",
      group: "Run",
      run: () => void deleteRun(model, model.run.peek() as RunDocument),
    },
  ];
}
