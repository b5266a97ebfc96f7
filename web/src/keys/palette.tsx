// Cmd-K: everything that can be done, found by typing. Pages add things to go to (projects, runs) by `addSource`.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Dialog } from "../ui/dialog";
import { Icon, type IconName } from "../ui/icon";
import { commands, isPossible, keysOf } from "./commands";
import { Keys } from "./keys";
import { closeFirst, ranked } from "./match";
import "./palette.css";

export interface PaletteItem {
  id: string;
  title: string;
  group: string;
  icon?: IconName;
  words?: string;
  keys?: string | undefined;
  run: () => void;
}

/** Returns things that fit what was typed; they come before the commands. */
export type PaletteSource = (typed: string) => readonly PaletteItem[] | Promise<readonly PaletteItem[]>;

export const isPaletteOpen = signal(false);
const sources = new Set<PaletteSource>();
const MOST = 60;

/** Add things to go to; returns what takes them away. */
export function addSource(source: PaletteSource): () => void {
  sources.add(source);
  return () => sources.delete(source);
}

export function Palette(): JSX.Element | null {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette(): JSX.Element {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const found = useFound(typed);
  const own = useMemo(() => ranked(commandItems(), typed, textOf), [typed]);
  const all = closeFirst([...found, ...own], typed, textOf);
  const shown = all.slice(0, MOST);
  const at = Math.min(chosen, shown.length - 1);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const run = (item: PaletteItem | undefined): void => {
    if (!item) return;
    close();
    // After the window has given the focus back.
    setTimeout(item.run, 0);
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLInputElement>): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((at + step + shown.length) % Math.max(1, shown.length));
    else if (event.key === "Enter") run(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Commands" isBare class="palette" onClose={close}>
      <div class="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search commands, projects and runs"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={shown[at] ? `${id}-${at}` : undefined}
          placeholder="Type a command or a name"
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="palette-list" id={id} role="listbox" aria-label="Commands" ref={list} tabIndex={-1}>
        {shown.map((item, index) => (
          <PaletteRow
            key={item.id}
            id={`${id}-${index}`}
            item={item}
            heading={item.group !== shown[index - 1]?.group ? item.group : null}
            isChosen={index === at}
            onRun={() => run(item)}
          />
        ))}
        {shown.length === 0 && <p class="palette-none quiet">Nothing is called “{typed}”.</p>}
        {all.length > shown.length && (
          <p class="palette-none quiet">
            Showing {shown.length} of {all.length}. Type more to narrow it down.
          </p>
        )}
      </div>
    </Dialog>
  );
}

interface RowProps {
  id: string;
  item: PaletteItem;
  heading: string | null;
  isChosen: boolean;
  onRun: () => void;
}

function PaletteRow({ id, item, heading, isChosen, onRun }: RowProps): JSX.Element {
  return (
    <>
      {heading && (
        <div class="menu-heading" role="presentation">
          {heading}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys, as a combobox does */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the same */}
      <div id={id} role="option" aria-selected={isChosen} class="palette-item" onClick={onRun}>
        <Icon name={item.icon ?? "chevronRight"} />
        <span class="cut palette-title">{item.title}</span>
        {item.keys && <Keys keys={item.keys} />}
      </div>
    </>
  );
}

function textOf({ title, words = "" }: PaletteItem): string {
  return `${title} ${words}`;
}

function commandItems(): PaletteItem[] {
  const able = commands.value.filter((command) => !command.isHidden && isPossible(command));
  return able.map(({ id, title, group, words = "", run, ...rest }) => {
    return {
      id,
      title,
      group,
      words: `${words} ${group}`,
      run,
      keys: keysOf({ id, title, group, run, ...rest })[0],
    };
  });
}

/** What the sources have, as it comes; what was typed before is forgotten. */
function useFound(typed: string): readonly PaletteItem[] {
  const [found, setFound] = useState<readonly PaletteItem[]>([]);
  useEffect(() => {
    let isOld = false;
    void Promise.all([...sources].map(async (source) => source(typed))).then((parts) => {
      if (!isOld) setFound(parts.flat());
    });
    return () => {
      isOld = true;
    };
  }, [typed]);
  return found;
}
