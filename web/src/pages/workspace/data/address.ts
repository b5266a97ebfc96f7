// The view of this page, and the address bar that carries it. Typing and sliding replace the entry of the history, a
// choice makes a new one, so that "back" undoes choices. Browsers limit how often the address may change: it follows
// the view a moment later.

import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { go, place } from "../../../app/navigation";
import { decodeView, encodeView, type Ignored, type Parameter } from "../../../view/codec";
import { patchView, type ViewPatch, type ViewState } from "../../../view/state";

export interface ChangeOptions {
  /** For what comes in many small steps: leave no entry in the history. */
  readonly replace?: boolean;
}

const SETTLE_MS = 200;
const MAX_UNDO = 100;

export class ViewAddress {
  readonly #view: Signal<ViewState>;
  /** Parameters of the address that could not be read. */
  readonly ignored: Signal<readonly Ignored[]>;
  readonly #path: string;
  #unknown: readonly Parameter[];
  #written: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Views before this one and, once some were undone, after it; of this page alone, whatever the browser's history has. */
  #past: ViewState[] = [];
  #future: ViewState[] = [];

  constructor() {
    const { path, search } = place.peek();
    const { view, unknown, ignored } = decodeView(search);
    this.#view = signal(view);
    this.ignored = signal(ignored);
    this.#unknown = unknown;
    this.#path = path;
    this.#written = search;
  }

  get view(): ReadonlySignal<ViewState> {
    return this.#view;
  }

  /** The search text of the view as it is now, with its question mark, or "". */
  get text(): string {
    const text = encodeView(this.#view.peek(), this.#unknown);
    return text ? `?${text}` : "";
  }

  change(patch: ViewPatch, options: ChangeOptions = {}): void {
    this.show(patchView(this.#view.peek(), patch), options);
  }

  show(view: ViewState, { replace = false }: ChangeOptions = {}): void {
    if (!replace) {
      this.write(true); // what was typed before is part of where "back" leads
      this.#remember();
    }
    this.#view.value = view;
    if (replace) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.write(true), SETTLE_MS);
    } else this.write(false);
  }

  /** Take over what the address says now, if it was not written here: back, forward, a link. */
  follow(path: string, search: string): void {
    if (path !== this.#path || search === this.#written) return;
    clearTimeout(this.#timer);
    this.#written = search;
    const { view, unknown, ignored } = decodeView(search);
    this.#unknown = unknown;
    this.#remember();
    batch(() => {
      this.#view.value = view;
      this.ignored.value = ignored;
    });
  }

  /** Show the view before the last choice. */
  undo(): void {
    this.#step(this.#past, this.#future);
  }

  /** Show again what was undone last. */
  redo(): void {
    this.#step(this.#future, this.#past);
  }

  #remember(): void {
    this.#past.push(this.#view.peek());
    if (this.#past.length > MAX_UNDO) this.#past.shift();
    this.#future = [];
  }

  #step(from: ViewState[], to: ViewState[]): void {
    const view = from.pop();
    if (view === undefined) return;
    to.push(this.#view.peek());
    this.#view.value = view;
    this.write(false);
  }

  /** Bring the address up to date, before the page is left. */
  write(replace: boolean): void {
    clearTimeout(this.#timer);
    const text = this.text;
    if (text === this.#written || place.peek().path !== this.#path) return;
    this.#written = text;
    go(this.#path, { search: text, replace });
  }
}
