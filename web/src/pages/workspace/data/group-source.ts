// Groups of runs by some fields, the largest first, and the runs of those that are open or drawn.

import { batch, computed, signal } from "@preact/signals";
import { get, place } from "../../../server/client";
import type { RunGroup } from "../../../server/types";
import { RunSource } from "./run-source";

export interface GroupQuestion {
  readonly filter: string;
  readonly by: readonly string[];
  readonly sort: string;
  readonly columns: readonly string[];
}

interface GroupPage {
  items: RunGroup[];
  cursor: string | null;
  num_groups: number;
}

const PAGE = 100;

export class GroupSource {
  readonly groups = signal<readonly RunGroup[]>([]);
  readonly total = signal<number | null>(null);
  readonly isLoading = signal(false);
  readonly problem = signal<Error | null>(null);
  readonly hasMore = computed(() => this.#cursor.value !== null);
  readonly #cursor = signal<string | null>(null);
  #members = new Map<string, RunSource>();
  #question: GroupQuestion | null = null;
  #abort = new AbortController();

  constructor(
    readonly entity: string,
    readonly project: string,
  ) {}

  ask(question: GroupQuestion): void {
    const before = this.#question;
    if (before !== null && JSON.stringify(before) === JSON.stringify(question)) return;
    this.#question = question;
    if (before !== null && before.filter === question.filter && before.by.join() === question.by.join()) {
      for (const [key, source] of this.#members) this.#askMembers(source, key);
      if (question.by.length > 0) void this.#load(null);
      return;
    }
    for (const source of this.#members.values()) source.stop();
    this.#members = new Map();
    if (question.by.length > 0) void this.#load(null);
    else
      batch(() => {
        this.groups.value = [];
        this.total.value = null;
        this.#cursor.value = null;
      });
  }

  more(): void {
    if (this.#cursor.peek() !== null && !this.isLoading.peek()) void this.#load(this.#cursor.peek());
  }

  reload(): void {
    if (!this.#question?.by.length) return;
    void this.#load(null);
    for (const source of this.#members.values()) void source.refresh();
  }

  /** The runs of a group; asked for with the first call, a moment later, so that a computed value may call it. */
  members(key: string): RunSource {
    const known = this.#members.get(key);
    if (known !== undefined) return known;
    const source = new RunSource(this.entity, this.project);
    this.#members.set(key, source);
    queueMicrotask(() => this.#askMembers(source, key));
    return source;
  }

  /** The sources that have been asked for. */
  get open(): Iterable<RunSource> {
    return this.#members.values();
  }

  stop(): void {
    this.#abort.abort();
    for (const source of this.#members.values()) source.stop();
  }

  #askMembers(source: RunSource, key: string): void {
    const question = this.#question;
    if (question === null) return;
    const { filter, by, sort, columns } = question;
    source.ask({ filter, sort, columns, group: { by, key } });
  }

  async #load(cursor: string | null): Promise<void> {
    const question = this.#question;
    if (question === null) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal: abort } = this.#abort;
    this.isLoading.value = true;
    try {
      const page = await get<GroupPage>(
        place("projects", this.entity, this.project, "groups"),
        {
          filter: question.filter || null,
          by: question.by,
          metrics: question.columns.filter((name) => name.startsWith("summary.")).slice(0, 50),
          limit: PAGE,
          cursor,
        },
        abort,
      );
      batch(() => {
        this.groups.value = cursor === null ? page.items : [...this.groups.peek(), ...page.items];
        this.#cursor.value = page.cursor;
        this.total.value = page.num_groups;
        this.problem.value = null;
        this.isLoading.value = false;
      });
    } catch (error) {
      if (abort.aborted) return;
      batch(() => {
        this.problem.value = error as Error;
        this.isLoading.value = false;
      });
    }
  }
}
