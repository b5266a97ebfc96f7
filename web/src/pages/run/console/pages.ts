// The lines that are here, by pages: those in view are asked for as one scrolls, and asked for again when the run has
// gone on, because the last lines of a terminal may still be drawn over.

import { signal } from "@preact/signals";
import { get } from "../../../server/client";
import type { ConsoleAnswer, ConsoleLane, ConsoleLine } from "../documents";

export interface LaneChoice {
  readonly writer: string | null;
  readonly stream: string | null;
  readonly attempt: number | null;
}

const PAGE = 400;
const MOST_PAGES = 60;

interface Page {
  lines: readonly ConsoleLine[];
  isFresh: boolean;
}

export class ConsolePages {
  readonly total = signal<number | null>(null);
  readonly lanes = signal<readonly ConsoleLane[]>([]);
  readonly problem = signal<Error | null>(null);
  /** Grows when lines have come. */
  readonly beat = signal(0);
  readonly #pages = new Map<number, Page>();
  readonly #asked = new Set<number>();
  #view: readonly [number, number] = [0, 0];
  readonly #abort = new AbortController();

  constructor(
    readonly address: string,
    readonly choice: LaneChoice,
  ) {}

  stop(): void {
    this.#abort.abort();
  }

  line(index: number): ConsoleLine | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.lines[index % PAGE];
  }

  lane(line: ConsoleLine): ConsoleLane | undefined {
    return this.lanes.peek()[line.lane];
  }

  /** Have these lines here. */
  show(first: number, last: number): void {
    this.#view = [first, last];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page++) {
      if (!this.#pages.get(page)?.isFresh) void this.#read(page);
    }
  }

  /** The run has gone on: look at the end, and again at what is in view. */
  async refresh(): Promise<void> {
    const total = this.total.peek();
    for (const page of this.#pages.values()) page.isFresh = false;
    // Lines far above the end cannot change any more.
    if (total !== null) await this.#read(Math.floor(Math.max(0, total - 1) / PAGE));
    this.show(...this.#view);
  }

  /** Return the number of the first line at or after a time. */
  async lineAt(timeNs: string): Promise<number | null> {
    const answer = await this.#ask({ time_ns: timeNs, limit: 1, before: 1 });
    return answer.items.at(-1)?.number ?? null;
  }

  async #read(page: number): Promise<void> {
    if (this.#asked.has(page)) return;
    this.#asked.add(page);
    try {
      const answer = await this.#ask({ start: page * PAGE, limit: PAGE });
      this.#pages.delete(page);
      this.#pages.set(page, { lines: answer.items, isFresh: true });
      this.#forget();
      this.lanes.value = answer.lanes;
      this.total.value = answer.total;
      this.problem.value = null;
      this.beat.value += 1;
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem.value = error as Error;
    } finally {
      this.#asked.delete(page);
    }
  }

  #ask(query: Record<string, string | number>): Promise<ConsoleAnswer> {
    return get<ConsoleAnswer>(this.address, { ...this.choice, ...query }, this.#abort.signal);
  }

  #forget(): void {
    const [first, last] = this.#view;
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) return;
      if (page < Math.floor(first / PAGE) || page > Math.floor(last / PAGE)) this.#pages.delete(page);
    }
  }
}
