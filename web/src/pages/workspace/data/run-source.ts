// Runs that a question means, page by page as they are wanted. What is shown stays while a new answer is under way.

import { batch, computed, signal } from "@preact/signals";
import { get, place, type Query } from "../../../server/client";
import type { RunNews } from "../../../server/live";
import type { Paged, RunItem } from "../../../server/types";

export interface RunQuestion {
  /** The filter as JSON, "" for all runs. */
  readonly filter: string;
  readonly sort: string;
  /** Fields whose values are wanted. */
  readonly columns: readonly string[];
  /** The group that they are of: its fields and its key. */
  readonly group?: { readonly by: readonly string[]; readonly key: string };
}

const PAGE = 200;
/** What the server gives at once. */
const MOST = 1000;
const PENDING_MS = 2000;

export class RunSource {
  readonly rows = signal<readonly RunItem[]>([]);
  /** Of all pages; null until it is known. */
  readonly total = signal<number | null>(null);
  /** Runs without their place yet: what they are sorted by is still being worked out. */
  readonly pending = signal(0);
  readonly isLoading = signal(false);
  readonly problem = signal<Error | null>(null);
  readonly hasMore = computed(() => this.#cursor.value !== null);
  readonly #cursor = signal<string | null>(null);
  readonly #path: string;
  #question: RunQuestion | null = null;
  #abort = new AbortController();
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(entity: string, project: string) {
    this.#path = place("projects", entity, project, "runs");
  }

  /** Ask this; nothing happens if it was asked already. A new set of columns keeps as many rows as there were. */
  ask(question: RunQuestion): void {
    const before = this.#question;
    if (before !== null && JSON.stringify(before) === JSON.stringify(question)) return;
    const isSameList = before !== null && before.filter === question.filter && before.sort === question.sort;
    this.#question = question;
    void this.#load(null, isSameList ? Math.max(PAGE, this.rows.peek().length) : PAGE);
  }

  /** Read everything again, in place. */
  reload(): void {
    void this.#load(null, Math.max(PAGE, this.rows.peek().length));
  }

  /** Read the next page, if there is one and nothing is under way. */
  more(limit = PAGE): void {
    if (this.#cursor.peek() !== null && !this.isLoading.peek()) void this.#load(this.#cursor.peek(), limit);
  }

  /** In an effect: read on until so many are here. */
  fillUpTo(most: number): void {
    const canGo = this.hasMore.value && !this.isLoading.value && this.problem.value === null;
    if (canGo && this.rows.value.length < most) this.more(MOST);
  }

  /** Read the beginning again and put what is new into its place; the rest stays. */
  async refresh(): Promise<void> {
    const question = this.#question;
    if (question === null || this.isLoading.peek()) return;
    const { signal: abort } = this.#abort;
    let page: Paged<RunItem> | null;
    try {
      page = await this.#read(null, PAGE, abort);
    } catch (error) {
      if (!abort.aborted) this.problem.value = error as Error;
      return;
    }
    if (page === null || question !== this.#question) return;
    const fresh = new Set(page.items.map((run) => run.id));
    const old = this.rows.peek().filter((run) => !fresh.has(run.id));
    batch(() => {
      // Less than a page is all there is: what is not on it is gone.
      this.rows.value = page.cursor === null ? page.items : [...page.items, ...old];
      this.total.value = page.total ?? null;
      this.problem.value = null;
      if (page.cursor === null) this.#cursor.value = null;
      else if (old.length === 0) this.#cursor.value = page.cursor;
      this.#waitFor(page);
    });
  }

  #waitFor({ pending = 0 }: Paged<RunItem>): void {
    this.pending.value = pending;
    clearTimeout(this.#again);
    if (pending > 0) this.#again = setTimeout(() => this.reload(), PENDING_MS);
  }

  find(id: string): RunItem | undefined {
    return this.rows.peek().find((run) => run.id === id);
  }

  /** Change some rows by id; null takes one away. */
  patch(changes: ReadonlyMap<string, (run: RunItem) => RunItem | null>): void {
    let hasChanged = false;
    let gone = 0;
    const rows: RunItem[] = [];
    for (const run of this.rows.peek()) {
      const change = changes.get(run.id);
      const next = change ? change(run) : run;
      hasChanged ||= next !== run;
      if (next === null) gone++;
      else rows.push(next);
    }
    if (!hasChanged) return;
    batch(() => {
      this.rows.value = rows;
      if (gone > 0 && this.total.peek() !== null) this.total.value = (this.total.peek() as number) - gone;
    });
  }

  stop(): void {
    clearTimeout(this.#again);
    this.#abort.abort();
  }

  async #load(cursor: string | null, limit: number): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal: abort } = this.#abort;
    this.isLoading.value = true;
    try {
      const page = await this.#read(cursor, Math.min(limit, MOST), abort);
      if (page === null) return;
      batch(() => {
        this.rows.value = cursor === null ? page.items : appended(this.rows.peek(), page.items);
        this.#cursor.value = page.cursor;
        if (cursor === null) this.total.value = page.total ?? null;
        this.#waitFor(page);
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

  async #read(cursor: string | null, limit: number, abort: AbortSignal): Promise<Paged<RunItem> | null> {
    const asked = this.#question;
    if (asked === null) return null;
    const query: Query = {
      filter: asked.filter || null,
      sort: asked.sort,
      limit,
      cursor,
      count: cursor === null,
      columns: asked.columns.length ? asked.columns : ["id"],
      group: asked.group?.by,
      group_key: asked.group?.key,
    };
    return get<Paged<RunItem>>(this.#path, query, abort);
  }
}

/** A run that moved between two pages is not listed twice. */
function appended(before: readonly RunItem[], next: readonly RunItem[]): RunItem[] {
  const known = new Set(before.map((run) => run.id));
  return [...before, ...next.filter((run) => !known.has(run.id))];
}

/** Return a run with what the server told about it, null if it is gone. */
export function withNews(run: RunItem, news: RunNews): RunItem | null {
  if (news.is_deleted) return null;
  const values = run.values && newValues(run.values, news);
  return {
    ...run,
    version: news.version,
    state: news.state,
    started_ns: news.started_ns,
    ended_ns: news.ended_ns,
    num_rows: news.num_rows,
    stop_by: news.stop_by,
    heartbeat_ns: Math.max(run.heartbeat_ns, news.changed_ns),
    values,
  };
}

const SUMMARY = "summary.";

function newValues(values: Record<string, unknown>, news: RunNews): Record<string, unknown> {
  if (!news.summary && !news.removed) return values;
  const changed: Record<string, unknown> = { ...values };
  for (const column of Object.keys(values)) {
    if (!column.startsWith(SUMMARY)) continue;
    const key = column.slice(SUMMARY.length);
    if (news.removed?.includes(key)) changed[column] = null;
    else if (news.summary && key in news.summary) changed[column] = news.summary[key];
  }
  return changed;
}
