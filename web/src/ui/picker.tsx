// A searchable list of names to choose from: columns, fields to group by, metrics. Any length; keys work in the search.

import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { count } from "../series/format";
import { Icon } from "./icon";
import { VirtualList, type VirtualListHandle } from "./virtual";
import "./picker.css";

export interface PickerItem {
  readonly value: string;
  readonly title: string;
  readonly detail?: string;
}

export interface PickerProps {
  readonly label: string;
  readonly placeholder: string;
  /** Those that fit what was typed, the best first. */
  readonly items: readonly PickerItem[];
  /** How many there are beyond those. */
  readonly left?: number;
  readonly chosen: readonly string[];
  readonly onSearch: (typed: string) => void;
  readonly onPick: (value: string) => void;
  /** Whether several can be chosen. */
  readonly isMany?: boolean;
  readonly note?: string;
}

const ROW = 28;
const MOST_ROWS = 11;

export function Picker(props: PickerProps): JSX.Element {
  const { items, chosen, left = 0 } = props;
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<VirtualListHandle>(null);
  const id = useId();
  const place = Math.min(at, items.length - 1);
  useEffect(() => {
    if (place >= 0) list.current?.show(place);
  }, [place]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const step = steps[event.key];
    const item = items[place];
    if (step !== undefined) setAt(Math.max(0, Math.min(items.length - 1, place + step)));
    else if (event.key === "Enter" && item) props.onPick(item.value);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="picker">
      <div class="field-box picker-search">
        <Icon name="search" />
        <input
          class="field-input"
          type="text"
          role="combobox"
          aria-label={props.label}
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={items[place] ? `${id}-${place}` : undefined}
          placeholder={props.placeholder}
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
            props.onSearch(event.currentTarget.value);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        class="picker-list"
        style={{ height: `${Math.max(1, Math.min(MOST_ROWS, items.length)) * ROW}px` }}
      >
        {items.length === 0 ? (
          <p class="quiet picker-none">
            {typed ? `Nothing is called “${typed}”.` : "Nothing to choose from yet."}
          </p>
        ) : (
          <VirtualList
            label={props.label}
            role="listbox"
            handle={list}
            count={items.length}
            rowHeight={ROW}
            attributes={{ id, tabIndex: -1, "aria-multiselectable": props.isMany ? true : undefined }}
            row={(index) => {
              const item = items[index] as PickerItem;
              const isChosen = chosen.includes(item.value);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys, as a combobox does
                // biome-ignore lint/a11y/useFocusableInteractive: the same
                <div
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={isChosen}
                  class={`picker-item${index === place ? " picker-at" : ""}`}
                  title={item.value}
                  onClick={() => props.onPick(item.value)}
                >
                  <span class="menu-mark">{isChosen && <Icon name="check" />}</span>
                  <span class="cut picker-title">{item.title}</span>
                  {item.detail && <span class="quiet picker-detail">{item.detail}</span>}
                </div>
              );
            }}
          />
        )}
      </div>
      {(left > 0 || props.note) && (
        <p class="quiet picker-note">
          {left > 0 ? `${count(left)} more: type to narrow them down` : props.note}
        </p>
      )}
    </div>
  );
}
