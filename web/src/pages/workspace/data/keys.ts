// The keys that the drawn runs have.

import { signal } from "@preact/signals";
import { naturalCompare } from "../../../series/natural";
import { NameIndex } from "../../../series/search";
import { send } from "../../../server/client";
import type { SharedKey } from "../../../server/types";

export interface KnownKeys {
  /** Samples of the system. */
  readonly samples: readonly string[];
  readonly names: readonly string[];
  readonly index: NameIndex;
  readonly known: ReadonlySet<string>;
}

/** Runs of one question to the server. */
const AT_ONCE = 1000;

export class KeySource {
  readonly keys = signal<KnownKeys>(keysOf([]));
  /** Whether the first answer is still to come. */
  readonly isLoading = signal(true);
  readonly problem = signal<Error | null>(null);
  #asked: readonly string[] = [];
  #round = 0;

  /** Ask for the keys of these runs (paths); those of other runs are forgotten when the answer is here. */
  ask(runs: readonly string[]): void {
    if (runs.length === this.#asked.length && runs.every((run, i) => run === this.#asked[i])) return;
    this.#asked = runs;
    void this.#load();
  }

  reload(): void {
    void this.#load();
  }

  async #load(): Promise<void> {
    const round = ++this.#round;
    const names = new Set<string>();
    const samples = new Set<string>();
    try {
      for (let i = 0; i < this.#asked.length; i += AT_ONCE) {
        const body = { runs: this.#asked.slice(i, i + AT_ONCE) };
        const answer = await send("POST", "/metrics", { body, waits: true });
        const { items } = (await answer.json()) as { items: SharedKey[] };
        for (const item of items) if (item.has_points) (item.is_system ? samples : names).add(item.key);
        if (round !== this.#round) return;
      }
      this.problem.value = null;
      const before = this.keys.peek();
      if (!sameNames(before.known, names)) this.keys.value = keysOf([...names], [...samples]);
      else if (!sameNames(new Set(before.samples), samples))
        this.keys.value = { ...before, samples: [...samples].sort(naturalCompare) };
    } catch (error) {
      if (round === this.#round) this.problem.value = error as Error;
    }
    this.isLoading.value = false;
  }
}

function sameNames(known: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  return known.size === names.size && [...names].every((name) => known.has(name));
}

/** More than this are left in the server's order where all are listed: sorting them would be felt. */
const SORTED = 5000;

export function keysOf(all: readonly string[], samples: readonly string[] = []): KnownKeys {
  const names = all.length <= SORTED ? [...all].sort(naturalCompare) : all;
  return {
    samples: [...samples].sort(naturalCompare),
    names,
    index: new NameIndex(names),
    known: new Set(names),
  };
}
