// What metrics of runs come to (least, greatest, where). Asked for together, in the portions that the server takes, and
// kept until the run has changed.

import { signal } from "@preact/signals";
import { send } from "../server/client";
import type { Digest, RunItem } from "../server/types";
import { pathOf } from "./path";

interface Known {
  version: number;
  /** Undefined where the run lacks a key. */
  digests: Map<string, Digest | undefined>;
}

/** Runs times keys of one question. */
const AT_ONCE = 1000;

export class DigestStore {
  /** Grows with every answer. */
  readonly round = signal(0);
  readonly isLoading = signal(false);
  readonly problem = signal<Error | null>(null);
  readonly #known = new Map<string, Known>();
  #next: { runs: readonly RunItem[]; keys: readonly string[] } | null = null;

  readonly find = (run: RunItem, key: string): Digest | undefined =>
    this.#known.get(pathOf(run))?.digests.get(key);

  /** Have these figures, sooner or later; of several wishes while one is under way, the last counts. */
  want(runs: readonly RunItem[], keys: readonly string[]): void {
    if (keys.length === 0 || !runs.some((run) => this.#isOld(run, keys))) return;
    this.#next = { runs, keys };
    if (!this.isLoading.peek()) void this.#work();
  }

  async #work(): Promise<void> {
    this.isLoading.value = true;
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
      this.isLoading.value = false;
    }
  }

  #isOld(run: RunItem, keys: readonly string[]): boolean {
    const known = this.#known.get(pathOf(run));
    return (
      known === undefined || known.version !== run.version || keys.some((key) => !known.digests.has(key))
    );
  }

  async #read(runs: readonly RunItem[], keys: readonly string[]): Promise<void> {
    const old = runs.filter((run) => this.#isOld(run, keys));
    const perRun = Math.min(keys.length, AT_ONCE);
    const numRuns = Math.max(1, Math.floor(AT_ONCE / perRun));
    for (let i = 0; i < old.length; i += numRuns) {
      for (let k = 0; k < keys.length; k += perRun) {
        await this.#readSome(old.slice(i, i + numRuns), keys.slice(k, k + perRun));
        if (this.#next !== null) return; // something else is wanted by now
      }
    }
  }

  async #readSome(runs: readonly RunItem[], keys: readonly string[]): Promise<void> {
    const body = { runs: runs.map(pathOf), keys };
    const answer = await send("POST", "/digests", { body, waits: true });
    const { items } = (await answer.json()) as { items: { run: string; digests: Record<string, Digest> }[] };
    const found = new Map(items.map((item) => [item.run, item.digests]));
    for (const run of runs) {
      const path = pathOf(run);
      const before = this.#known.get(path);
      // what was read of an older version is shown until here, and old from now on
      const digests =
        before?.version === run.version ? before.digests : new Map<string, Digest | undefined>();
      for (const key of keys) digests.set(key, found.get(path)?.[key]);
      this.#known.set(path, { version: run.version, digests });
    }
    this.round.value += 1;
  }
}
