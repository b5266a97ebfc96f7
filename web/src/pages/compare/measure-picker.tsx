// A button that says what is measured, and a search to measure something else.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { NameIndex } from "../../series/search";
import { Button } from "../../ui/button";
import { Picker } from "../../ui/picker";
import { Popover } from "../../ui/popover";
import { titleOf } from "./measure";

export interface MeasurePickerProps {
  readonly label: string;
  readonly measures: readonly string[];
  readonly chosen: readonly string[];
  /** What the button says; the chosen one unless given. */
  readonly title?: string;
  readonly isMany?: boolean;
  readonly onPick: (measure: string) => void;
}

const FOUND = 500;

export function MeasurePicker({
  label,
  measures,
  chosen,
  title,
  isMany = false,
  onPick,
}: MeasurePickerProps): JSX.Element {
  const shown = title ?? (chosen[0] === undefined ? "none" : titleOf(chosen[0]));
  return (
    <Popover
      label={label}
      trigger={(trigger) => (
        <Button
          {...trigger}
          class="measure-button"
          title={`${label}: ${shown}`}
          aria-label={`${label}: ${shown}`}
        >
          <span class="quiet">{label}</span>
          <span class="cut">{shown}</span>
        </Button>
      )}
    >
      {(close) => (
        <Measures
          label={label}
          measures={measures}
          chosen={chosen}
          isMany={isMany}
          onPick={(measure) => {
            onPick(measure);
            if (!isMany) close();
          }}
        />
      )}
    </Popover>
  );
}

function Measures({
  label,
  measures,
  chosen,
  isMany = false,
  onPick,
}: Omit<MeasurePickerProps, "title">): JSX.Element {
  const [typed, setTyped] = useState("");
  const index = useMemo(() => new NameIndex(measures), [measures]);
  const found = index.search(typed, FOUND);
  return (
    <Picker
      label={label}
      placeholder="Config keys and metrics"
      items={found.names.map((name) => ({ value: name, title: titleOf(name), detail: detailOf(name) }))}
      left={Math.max(0, found.total - found.names.length)}
      chosen={chosen}
      isMany={isMany}
      onSearch={setTyped}
      onPick={onPick}
    />
  );
}

function detailOf(name: string): string {
  return name.startsWith("config.") ? "config" : name.includes("(") ? "metric" : "run";
}
