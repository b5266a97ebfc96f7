// Making and changing a panel: some metrics, a pattern that new metrics join, or an expression.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { FUNCTIONS } from "../../../series/expression";
import { counted } from "../../../series/format";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { TextField } from "../../../ui/field";
import { Picker } from "../../../ui/picker";
import { Segments } from "../../../ui/tabs";
import type { Panel, PanelSource } from "../../../view/state";
import { toggled } from "../../../view/toggled";
import { useWorkspace } from "../workspace";
import { freeId, ownPanel } from "./specs";

/** The panel that is being made ("new") or changed. */
export const editedPanel = signal<Panel | "new" | null>(null);

const KINDS = [
  { value: "keys", title: "Metrics" },
  { value: "regex", title: "Pattern" },
  { value: "expression", title: "Expression" },
] as const;

export function PanelEditor(): JSX.Element | null {
  const edited = editedPanel.value;
  return edited === null ? null : <OpenEditor key={edited === "new" ? "new" : edited.id} edited={edited} />;
}

function OpenEditor({ edited }: { edited: Panel | "new" }): JSX.Element {
  const workspace = useWorkspace();
  const keys = workspace.keys.keys.value;
  const source = edited === "new" ? null : edited.source;
  const [kind, setKind] = useState<PanelSource["kind"]>(source?.kind ?? "keys");
  const [title, setTitle] = useState(edited === "new" ? "" : edited.title);
  const [chosen, setChosen] = useState<readonly string[]>(source?.kind === "keys" ? source.keys : []);
  const [pattern, setPattern] = useState(source?.kind === "regex" ? source.pattern : "");
  const [text, setText] = useState(source?.kind === "expression" ? source.text : "");
  const [typed, setTyped] = useState("");
  const { panels } = workspace.view.value.charts;
  const panel: Panel = {
    id: edited === "new" ? freeId(panels) : edited.id,
    title,
    source: kind === "keys" ? { kind, keys: chosen } : kind === "regex" ? { kind, pattern } : { kind, text },
  };
  const spec = useMemo(() => ownPanel(panel, keys), [kind, title, chosen, pattern, text, keys]);
  const isBlank = kind === "keys" ? chosen.length === 0 : kind === "regex" ? !pattern : !text.trim();
  const unknown = kind === "expression" ? spec.keys.filter((key) => !keys.known.has(key)) : [];
  const items = useMemo(
    () => keys.index.search(typed).names.map((name) => ({ value: name, title: name })),
    [keys, typed],
  );
  const close = (): void => {
    editedPanel.value = null;
  };
  const save = (): void => {
    if (isBlank || spec.problem) return;
    close();
    const others = panels.filter((one) => one.id !== panel.id);
    const place = panels.findIndex((one) => one.id === panel.id);
    const next = place < 0 ? [...others, panel] : panels.map((one) => (one.id === panel.id ? panel : one));
    workspace.change({ charts: { panels: next } });
  };
  return (
    <Dialog
      title={edited === "new" ? "New panel" : "Change the panel"}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" disabled={isBlank || spec.problem !== null} onClick={save}>
            {edited === "new" ? "Add" : "Save"}
          </Button>
        </>
      }
    >
      <div class="dialog-body panel-editor">
        <Segments label="What it shows" options={KINDS} value={kind} onChange={setKind} />
        {kind === "keys" && (
          <Picker
            label="Metrics"
            placeholder="Search metrics, /regex/"
            items={items}
            chosen={chosen}
            onSearch={setTyped}
            onPick={(key) => setChosen(toggled(chosen, key))}
            isMany
            note={chosen.length ? chosen.join(", ") : "Choose one or more"}
          />
        )}
        {kind === "regex" && (
          <>
            <TextField
              label="Regular expression over metric names"
              isLabelShown
              value={pattern}
              onInput={setPattern}
              onEnter={save}
              placeholder="layers/\d+/grad_norm"
              problem={pattern ? spec.problem : null}
              autofocus
            />
            <p class="quiet">
              {pattern && !spec.problem
                ? `Fits ${counted(spec.keys.length, "metric")} now; metrics that come later join by themselves.`
                : "Metrics that come later join by themselves."}
            </p>
          </>
        )}
        {kind === "expression" && (
          <>
            <TextField
              label="Expression of metrics"
              isLabelShown
              value={text}
              onInput={setText}
              onEnter={save}
              placeholder="train/loss - val/loss"
              problem={text.trim() ? spec.problem : null}
              autofocus
            />
            <p class="quiet">
              {unknown.length > 0
                ? `No drawn run has ${unknown.join(", ")}.`
                : `Functions: ${Object.keys(FUNCTIONS).join(", ")}. Odd names in "quotes".`}
            </p>
          </>
        )}
        <TextField
          label="Title"
          isLabelShown
          value={title}
          onInput={setTitle}
          onEnter={save}
          placeholder={spec.title || "By itself"}
        />
      </div>
    </Dialog>
  );
}
