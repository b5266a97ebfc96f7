// The state of the page and the address that carries it. A choice is an entry of the history; what comes in many small
// steps (typing, brushing) replaces the entry, a moment later, because browsers limit how often the address may change.

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { go, place } from "../../app/navigation";
import { type CompareState, decode, encode } from "./state";

const SETTLE_MS = 200;

export class CompareAddress {
  readonly #state: Signal<CompareState>;
  readonly #path: string;
  #unknown: ReturnType<typeof decode>["unknown"];
  #written: string;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const { path, search } = place.peek();
    const { state, unknown } = decode(search);
    this.#state = signal(state);
    this.#unknown = unknown;
    this.#path = path;
    this.#written = search;
  }

  get state(): ReadonlySignal<CompareState> {
    return this.#state;
  }

  readonly change = (patch: Partial<CompareState>, { replace = false } = {}): void => {
    if (!replace) this.write(true); // what was typed before is part of where "back" leads
    this.#state.value = { ...this.#state.peek(), ...patch };
    if (replace) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.write(true), SETTLE_MS);
    } else this.write(false);
  };

  /** Take over what the address says now, if it was not written here: back, forward, a link. */
  follow(path: string, search: string): void {
    if (path !== this.#path || search === this.#written) return;
    clearTimeout(this.#timer);
    this.#written = search;
    const { state, unknown } = decode(search);
    this.#unknown = unknown;
    this.#state.value = state;
  }

  /** The search text with this changed, for links. */
  with(patch: Partial<CompareState>): string {
    return encode({ ...this.#state.value, ...patch }, this.#unknown);
  }

  write(replace: boolean): void {
    clearTimeout(this.#timer);
    const text = encode(this.#state.peek(), this.#unknown);
    if (text === this.#written || place.peek().path !== this.#path) return;
    this.#written = text;
    go(this.#path, { search: text, replace });
  }
}
