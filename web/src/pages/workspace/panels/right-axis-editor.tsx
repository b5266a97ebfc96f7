// Choosing what a panel measures on the right: its own metrics or others, and samples of the system.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { sampleName } from "../../../series/samples";
import { NameIndex } from "../../../series/search";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { Picker, type PickerItem } from "../../../ui/picker";
import { Segments } from "../../../ui/tabs";
import { panelOptions, rightEntry } from "../../../view/state";
import { toggled } from "../../../view/toggled";
import { SCALE_OPTIONS } from "../bar/options";
import { useWorkspace } from "../workspace";
import { changeOptions } from "./state";

/** The panel whose right axis is being chosen. */
export const editedRight = signal<string | null>(null);

export function RightAxisEditor(): JSX.Element | null {
  const id = editedRight.value;
  return id === null ? null : <OpenEditor key={id} id={id} />;
}

function OpenEditor({ id }: { id: string }): JSX.Element {
  const workspace = useWorkspace();
  const { right, rightScale } = panelOptions(workspace.view.value.charts, id);
  const { index, samples } = workspace.keys.keys.value;
  const [typed, setTyped] = useState("");
  const sampleIndex = useMemo(() => new NameIndex(samples.map(sampleName)), [samples]);
  const items = useMemo<PickerItem[]>(() => {
    const names = new Map(samples.map((key) => [sampleName(key), key]));
    const found = sampleIndex.search(typed).names.map((name) => {
      const key = names.get(name) as string;
      return { value: rightEntry({ key, isSystem: true }), title: name, detail: "system" };
    });
    const logged = index.search(typed).names.map((key) => ({
      value: rightEntry({ key, isSystem: false }),
      title: key,
    }));
    // samples are what one comes here for, unless there are so few metrics that all are seen
    return [...logged.slice(0, 5), ...found, ...logged.slice(5)];
  }, [index, sampleIndex, samples, typed]);
  const close = (): void => {
    editedRight.value = null;
  };
  return (
    <Dialog
      title="Right axis"
      onClose={close}
      actions={
        <>
          <Button
            disabled={right.length === 0}
            onClick={() => changeOptions(workspace, id, { right: [], rightScale: "linear" })}
          >
            Clear
          </Button>
          <Button kind="primary" onClick={close}>
            Done
          </Button>
        </>
      }
    >
      <div class="dialog-body panel-editor">
        <Picker
          label="Measured on the right"
          placeholder="Search metrics and samples of the system"
          items={items}
          chosen={right}
          onSearch={setTyped}
          onPick={(entry) => changeOptions(workspace, id, { right: toggled(right, entry) })}
          isMany
          note="Samples lie where the run was at their time"
        />
        <Segments
          label="Scale of the right axis"
          options={SCALE_OPTIONS}
          value={rightScale}
          onChange={(scale) => changeOptions(workspace, id, { rightScale: scale })}
        />
      </div>
    </Dialog>
  );
}
