// What metrics of runs come to (least, greatest, where), for the rows in view. Asked for together, kept until the run
// has changed.

import { signal } from "@preact/signals";
import { send } from "../../../server/client";
import type { Digest, RunItem } from "../../../server/types";
import { pathOf } from "./keys";

interface Known {
  version: number;
  digests: Record<string, Digest>;
}

const AT_ONCE = 1000;

export class DigestStore {
  /** Grows with every answer. */
  readonly round = signal(0);
  readonly problem = signal<Error | null>(null);
  readonly #known = new Map<string, Known>();
  #isBusy = false;
  #next: { runs: readonly RunItem[]; keys: readonly string[] } | null = null;

  find(run: RunItem, key: string): Digest | undefined {
    return this.#known.get(pathOf(run))?.digests[key];
  }

  /** Have these figures, sooner or later; of several wishes while one is under way, the last counts. */
  want(runs: readonly RunItem[], keys: readonly string[]): void {
    if (keys.length === 0) return;
    this.#next = { runs, keys };
    if (!this.#isBusy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#next !== null) {
        const { runs, keys } = this.#next;
        this.#next = null;
        await this.#read(runs, keys);
      }
      this.problem.value = null;
    } catch (error) {
      this.problem.value = error as Error;
    } finally {
      this.#isBusy = false;
    }
  }

  async #read(runs: readonly RunItem[], keys: readonly string[]): Promise<void> {
    const old = runs.filter((run) => {
      const known = this.#known.get(pathOf(run));
      return (
        known === undefined || known.version !== run.version || keys.some((key) => !(key in known.digests))
      );
    });
    const size = Math.max(1, Math.floor(AT_ONCE / keys.length));
    for (let i = 0; i < old.length; i += size) {
      const some = old.slice(i, i + size);
      const body = { runs: some.map(pathOf), keys };
      const answer = await send("POST", "/digests", { body, waits: true });
      const { items } = (await answer.json()) as {
        items: { run: string; digests: Record<string, Digest> }[];
      };
      const found = new Map(items.map((item) => [item.run, item.digests]));
      for (const run of some) {
        const before = this.#known.get(pathOf(run));
        const none = Object.fromEntries(keys.map((key) => [key, undefined])) as unknown as Record<
          string,
          Digest
        >;
        const digests = { ...before?.digests, ...none, ...found.get(pathOf(run)) };
        this.#known.set(pathOf(run), { version: run.version, digests });
      }
      this.round.value += 1;
    }
  }
}
