// Runs that a question means, page by page as they are wanted. What is shown stays while a new answer is under way.

import { batch, computed, signal } from "@preact/signals";
import { get, place, type Query } from "../../../server/client";
import { callingOf, type RunNews } from "../../../server/live";
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
  /** Whether something happened that the last answer may not have. */
  #isOld = false;
  #isRefreshing = false;

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

  /**
   * Read the beginning again and put what is new into its place; the rest stays. While something else is under way this
   * waits for its end: an answer that was asked for before may not have what is new.
   */
  async refresh(): Promise<void> {
    this.#isOld = true;
    while (this.#isOld && this.#question !== null && !this.isLoading.peek() && !this.#isRefreshing) {
      this.#isOld = false;
      this.#isRefreshing = true;
      const isWhole = await this.#readBeginning();
      this.#isRefreshing = false;
      if (!isWhole) await this.#load(null, this.rows.peek().length);
    }
  }

  /** Return false if what is here and the next page do not make up the list any more. */
  async #readBeginning(): Promise<boolean> {
    const question = this.#question;
    const { signal: abort } = this.#abort;
    let page: Paged<RunItem> | null;
    try {
      page = await this.#read(null, PAGE, abort);
    } catch (error) {
      if (!abort.aborted) this.problem.value = error as Error;
      else this.#isOld = true; // by a question or a page that came first; this one is still to be asked
      return true;
    }
    if (page === null || question !== this.#question) return true;
    const fresh = new Set(page.items.map((run) => run.id));
    const old = this.rows.peek().filter((run) => !fresh.has(run.id));
    // Less than a page is all there is: what is not on it is gone.
    const rows = page.cursor === null ? page.items : [...page.items, ...old];
    const total = page.total ?? null;
    const left = total === null ? null : total - rows.length;
    const leftBefore = this.#left();
    batch(() => {
      this.rows.value = rows;
      this.total.value = total;
      this.problem.value = null;
      if (old.length === 0 || page.cursor === null) this.#cursor.value = page.cursor;
      this.#waitFor(page);
    });
    // More came in than the beginning has room for, or further down: it lies between the pages that are here, or behind
    // an end that is none any more.
    return old.length === 0 || page.cursor === null || left === leftBefore;
  }

  /** How many runs are not here yet, as far as is known. */
  #left(): number | null {
    const total = this.total.peek();
    return total === null ? null : total - this.rows.peek().length;
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
    this.#question = null;
    clearTimeout(this.#again);
    this.#abort.abort();
  }

  async #load(cursor: string | null, limit: number): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal: abort } = this.#abort;
    this.isLoading.value = true;
    if (cursor === null) this.#isOld = false;
    try {
      const page = await this.#readPages(cursor, limit, abort);
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
    if (this.#isOld && this.problem.peek() === null) void this.refresh();
  }

  /** Read so many runs, in as many pages as the server makes of them. */
  async #readPages(cursor: string | null, limit: number, abort: AbortSignal): Promise<Paged<RunItem> | null> {
    const first = await this.#read(cursor, Math.min(limit, MOST), abort);
    let page = first;
    let items = first?.items ?? [];
    while (page !== null && page.cursor !== null && items.length < limit) {
      page = await this.#read(page.cursor, Math.min(limit - items.length, MOST), abort);
      items = appended(items, page?.items ?? []);
    }
    return first && page && { ...first, items, cursor: page.cursor };
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

/**
 * Return a run with what the server told about it, null if it is gone. News wait a moment before they are taken in: if
 * the deletion was undone and the list read again meanwhile, the row knows better.
 */
export function withNews(run: RunItem, news: RunNews): RunItem | null {
  if (news.is_deleted) return news.version < run.version ? run : null;
  const values = run.values && newValues(run.values, news);
  return {
    ...run,
    ...callingOf(news),
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
