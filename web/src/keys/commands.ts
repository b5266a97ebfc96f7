// What can be done from the keyboard: one registry for the dispatcher, the palette and the sheet of keys, so that none
// of them can disagree. A page registers its commands while it is shown.

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { keystroke, onMac } from "./keystroke";

export interface Command {
  /** Unique: "charts.log". */
  id: string;
  /** What it does, as a person would say it. */
  title: string;
  /** The heading that it stands under in palette and sheet. */
  group: string;
  /** Such as "mod+k", "l", "g p"; several ways are a list. Without any it is in the palette alone. */
  keys?: string | readonly string[];
  /** More words to find it by. */
  words?: string;
  /** Whether it makes sense now; always unless given. */
  when?: () => boolean;
  /** What has to be there first, for the sheet of keys: without it, a command is not in there while it makes no sense. */
  needs?: string;
  /** Whether its keys work while a text is typed, too. */
  inFields?: boolean;
  /** Left out of the palette: moving about, which makes no sense from there. */
  isHidden?: boolean;
  run: () => void;
}

const sets = signal<readonly (readonly Command[])[]>([]);
/** All that can be done now; what was registered last comes first, and wins where keys are the same. */
export const commands = computed(() => [...sets.value].reverse().flat());

/** Add commands; returns what takes them away. */
export function register(some: readonly Command[]): () => void {
  sets.value = [...sets.value, some];
  return () => {
    sets.value = sets.value.filter((one) => one !== some);
  };
}

/** Have these commands while the component is shown. Make the list with useMemo: a new list is registered anew. */
export function useCommands(some: readonly Command[]): void {
  useEffect(() => register(some), [some]);
}

export function keysOf(command: Command): readonly string[] {
  return command.keys === undefined ? [] : typeof command.keys === "string" ? [command.keys] : command.keys;
}

export function isPossible(command: Command): boolean {
  return command.when?.() ?? true;
}

/** How long the second key of a pair may take. */
const PAIR_MS = 1000;
let first: { stroke: string; at: number } | null = null;

/** Run what a keystroke means; return whether it meant anything. */
export function dispatch(stroke: string, isTyping: boolean, now: number): boolean {
  const before = first !== null && now - first.at < PAIR_MS ? `${first.stroke} ${stroke}` : null;
  first = null;
  const able = commands.value.filter((command) => (!isTyping || command.inFields) && isPossible(command));
  const meant = able.find((command) => {
    const keys = keysOf(command);
    return (before !== null && keys.includes(before)) || keys.includes(stroke);
  });
  if (meant) {
    meant.run();
    return true;
  }
  if (able.some((command) => keysOf(command).some((keys) => keys.startsWith(`${stroke} `)))) {
    first = { stroke, at: now };
    return true;
  }
  return false;
}

/** Whether an event goes to something that takes keys itself. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !["checkbox", "radio", "button", "range"].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
  );
}

/** Listen to the keyboard. */
export function listen(): () => void {
  const isMac = onMac();
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    // An open window has the keyboard to itself.
    if (document.querySelector("dialog[open]") !== null) return;
    const stroke = keystroke(event, isMac);
    if (stroke !== null && dispatch(stroke, isTyping(event.target), event.timeStamp)) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
