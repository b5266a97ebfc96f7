// A metric chosen by its name: for the x axis, and for the small curves of the list.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { NameIndex } from "../../series/search";
import { Picker, type PickerItem } from "../../ui/picker";
import { useWorkspace } from "./workspace";

export interface KeyPickerProps {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly onPick: (key: string) => void;
  /** Choices before the keys. */
  readonly before?: readonly PickerItem[];
}

/** Choose a metric; all of them are here, so the search is at once. */
export function KeyPicker({ label, chosen, onPick, before = [] }: KeyPickerProps): JSX.Element {
  const { index } = useWorkspace().keys.keys.value;
  const [typed, setTyped] = useState("");
  const items = useMemo(() => {
    const first = typed ? new NameIndex(before.map((item) => item.title)).search(typed).names : null;
    const own = before.filter((item) => first === null || first.includes(item.title));
    return [...own, ...index.search(typed).names.map((name) => ({ value: name, title: name }))];
  }, [index, typed, before]);
  return (
    <Picker
      label={label}
      placeholder="Search metrics, /regex/"
      items={items}
      chosen={chosen}
      onSearch={setTyped}
      onPick={onPick}
    />
  );
}
