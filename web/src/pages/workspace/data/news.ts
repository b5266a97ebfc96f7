// What happens in the project while the page is open: runs that change or begin, points that are logged. News of runs
// are taken in together, a few times a second, however many come.

import { batch, effect } from "@preact/signals";
import { pathOf } from "../../../runs/path";
import type { RunNews, Watch } from "../../../server/live";
import type { RunItem } from "../../../server/types";
import type { Workspace } from "../workspace";
import { withNews } from "./run-source";

/** Keys whose points the server sends at most. */
const LIVE_KEYS = 500;
const WATCH_MS = 300;
const NEWS_MS = 250;
const HEAD_MS = 1500;
const GAP_MS = 1200;
const STALE_MS = 20_000;

export class News {
  readonly #news = new Map<string, RunNews>();
  /** Runs that changed, with their version, since curves were last compared with it. */
  #late = new Map<string, number>();
  #watch: Watch | null = null;
  #watched = new Set<string>();
  #unfollow = (): void => {};
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(readonly workspace: Workspace) {}

  /** Listen to the keys that are shown, if that is not so already. */
  watchSoon(): void {
    this.#later("watch", () => this.#listen(), WATCH_MS);
  }

  /** Read the list again before long: signs of life alone are no news. */
  lookSoon(): void {
    this.#later("stale", () => void this.workspace.runs.refresh(), STALE_MS);
  }

  /** Points may come late, below those that were sent: look again at what changed, now and then. */
  compare(): void {
    const late = this.#late;
    this.#late = new Map();
    if (late.size > 0) this.workspace.curves.refresh(late);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#unfollow();
    this.#watch?.stop();
  }

  #listen(): void {
    const { keys, curves, brokenSince } = this.workspace;
    const all = keys.keys.peek().names;
    const wanted = all.length <= LIVE_KEYS ? all : [...curves.keys].slice(0, LIVE_KEYS);
    if (this.#watch !== null && wanted.every((key) => this.#watched.has(key))) return;
    this.#unfollow();
    this.#watch?.stop();
    this.#watched = new Set(wanted);
    const stream = this.workspace.listen(wanted, {
      run: (news) => this.#heard(news),
      points: (news) => curves.append(news),
      reset: (runs) => {
        if (runs === null) this.workspace.reload();
        else curves.refresh(new Map(runs.map((run) => [run, Number.POSITIVE_INFINITY])));
      },
    });
    this.#watch = stream;
    this.#unfollow = effect(() => {
      brokenSince.value = stream.brokenSince.value;
    });
    this.#later("gap", () => this.#closeGap(), GAP_MS);
  }

  /** What came between the answers and the first event. */
  #closeGap(): void {
    for (const run of this.workspace.drawn.peek().runs) {
      if (run.state === "running") this.#late.set(pathOf(run), Number.POSITIVE_INFINITY);
    }
    this.compare();
    void this.workspace.runs.refresh();
  }

  #heard(news: RunNews): void {
    this.#news.set(news.run, news);
    this.#late.set(news.run, news.version);
    this.#later("news", () => this.#takeIn(), NEWS_MS);
  }

  #takeIn(): void {
    const { keys, curves, runs, named, groups, now } = this.workspace;
    const changes = new Map<string, (run: RunItem) => RunItem | null>();
    const { known } = keys.keys.peek();
    let isNew = false;
    let hasNewKey = false;
    for (const news of this.#news.values()) {
      const id = news.run.slice(news.run.lastIndexOf("/") + 1);
      changes.set(id, (run) => withNews(run, news));
      isNew ||= !news.is_deleted && this.workspace.find(id) === undefined;
      hasNewKey ||= Object.keys(news.summary ?? {}).some((key) => !known.has(key) && !key.startsWith("_"));
      if (news.state !== "running") curves.refresh(new Map([[news.run, news.version]]));
    }
    this.#news.clear();
    batch(() => {
      for (const source of [runs, named, ...groups.open]) source.patch(changes);
      now.value = Date.now();
    });
    if (isNew) this.#later("head", () => void this.#readNew(), HEAD_MS);
    if (hasNewKey) this.#later("keys", () => keys.reload(), HEAD_MS);
  }

  async #readNew(): Promise<void> {
    await this.workspace.runs.refresh();
    if (this.workspace.isGrouped.peek()) this.workspace.groups.reload();
  }

  /** Do something once, a moment from now, however often it is wanted until then. */
  #later(name: string, run: () => void, wait: number): void {
    if (this.#timers.has(name)) return;
    this.#timers.set(
      name,
      setTimeout(() => {
        this.#timers.delete(name);
        run();
      }, wait),
    );
  }
}
