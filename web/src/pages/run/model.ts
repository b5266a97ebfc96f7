// The model of the run page: the run's document and its keys, kept up to date by one stream. Tabs read the
// signals; whatever they ask for themselves, they ask again when `beat` grows.

import { batch, effect, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { type Answer, useAnswer } from "../../server/answer";
import { get, patch, place, post, type Query, returns, ServerProblem } from "../../server/client";
import { callingOf, type Listener, type RunNews, type Watch, watch } from "../../server/live";
import type { RunDocument } from "../../server/types";
import { sayError } from "../../ui/toast";
import type { RunKey, RunKeys, Sampler } from "./documents";

export type RunEdit = Partial<Pick<RunDocument, "name" | "notes" | "tags">>;

/** News are taken in at most this often; the whole document is read again less often, because it may be large. */
const BEAT_MS = 1000;
const WHOLE_MS = 4000;
/** How often, and how many times, a run that is not there is looked for again. */
const MISSING_MS = 3000;
const MOST_TRIES = 40;

export class RunModel {
  readonly path: string;
  readonly run = signal<RunDocument | null>(null);
  readonly problem = signal<Error | null>(null);
  /** What it logged under; null until known. */
  readonly keys = signal<readonly RunKey[] | null>(null);
  /** Who sampled its system. */
  readonly samplers = signal<readonly Sampler[]>([]);
  /** Grows, at most once a second, when the run has changed: what was asked for may be old. */
  readonly beat = signal(0);
  readonly brokenSince = signal<number | null>(null);
  readonly now = signal(Date.now());

  #watch: Watch | null = null;
  #unfollow: (() => void) | null = null;
  #along: { readonly keys: readonly string[]; readonly listener: Listener } | null = null;
  #isOver = false;
  #tries = 0;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    readonly entity: string,
    readonly project: string,
    readonly id: string,
  ) {
    this.path = `${entity}/${project}/${id}`;
  }

  /** The address of the run's part of the API, or of something in it. */
  api(...more: readonly string[]): string {
    return place("runs", this.entity, this.project, this.id, ...more);
  }

  /** The address of one of its files; `query` such as "?download=true". */
  fileAddress(path: string, query = ""): string {
    const parts = path.split("/").map(encodeURIComponent).join("/");
    return `/api/v1${this.api("files")}/${parts}${query}`;
  }

  get isRunning(): boolean {
    return this.run.value?.state === "running";
  }

  start(): () => void {
    void this.load();
    const clock = setInterval(() => {
      this.now.value = Date.now();
    }, 5000);
    let isFirst = true;
    const unwatch = effect(() => {
      void returns.value; // a lost server is back
      if (!isFirst) this.#heard();
      isFirst = false;
    });
    return () => {
      this.#isOver = true;
      unwatch();
      clearInterval(clock);
      for (const timer of this.#timers.values()) clearTimeout(timer);
      this.#unfollow?.();
      this.#watch?.stop();
    };
  }

  /** Read the document and the keys, and listen from then on. */
  async load(): Promise<void> {
    try {
      const run = await get<RunDocument>(this.api(), { deleted: true });
      if (this.#isOver) return;
      batch(() => {
        this.run.value = run;
        this.problem.value = null;
      });
      if (run.deleted_ns !== null) {
        this.keys.value = [];
        return;
      }
      const keys = await get<RunKeys>(this.api("metrics"));
      if (this.#isOver) return;
      const known = this.keys.peek();
      if (known === null || JSON.stringify(known) !== JSON.stringify(keys.items)) {
        batch(() => {
          this.keys.value = keys.items;
          this.samplers.value = keys.samplers;
        });
      }
      this.#listen();
    } catch (error) {
      if (this.#isOver) return;
      this.problem.value = error as Error;
      // One that has just begun is on its way.
      const isMissing = error instanceof ServerProblem && error.status === 404;
      if (isMissing && ++this.#tries <= MOST_TRIES) this.#later("whole", () => void this.load(), MISSING_MS);
    }
  }

  /** Change the run: shown at once, and taken back if the server refuses. */
  async edit(edit: RunEdit): Promise<void> {
    const before = this.run.peek();
    if (before === null) return;
    this.run.value = { ...before, ...edit };
    try {
      this.run.value = await patch<RunDocument>(this.api(), edit);
    } catch (error) {
      this.run.value = before;
      sayError(error);
    }
  }

  async stopRun(): Promise<void> {
    try {
      this.run.value = await post<RunDocument>(this.api("stop"));
    } catch (error) {
      sayError(error);
    }
  }

  async restore(): Promise<void> {
    try {
      this.run.value = await post<RunDocument>(this.api("restore"));
      await this.load();
    } catch (error) {
      sayError(error);
    }
  }

  /** Hear what the page hears, and new points of keys: one stream serves both. */
  listenAlong(keys: readonly string[], listener: Listener): Watch {
    const along = { keys, listener };
    this.#along = along;
    this.#listenAnew();
    const stop = (): void => {
      if (this.#along !== along) return;
      this.#along = null;
      this.#listenAnew();
    };
    return { brokenSince: this.brokenSince, stop };
  }

  /** A moment later, because whoever wants other keys stops first. What happens between two streams is read. */
  #listenAnew(): void {
    this.#later(
      "listen",
      () => {
        this.#unfollow?.();
        this.#watch?.stop();
        this.#watch = null;
        this.#listen();
        this.#later("whole", () => void this.load(), WHOLE_MS);
      },
      0,
    );
  }

  #listen(): void {
    if (this.#watch !== null) return;
    const along = this.#along;
    const stream = watch(
      { runs: [this.path], keys: along?.keys ?? [] },
      {
        run: (news) => {
          this.#take(news);
          along?.listener.run?.(news);
        },
        points: (news) => along?.listener.points?.(news),
        reset: (runs) => {
          this.#heard();
          along?.listener.reset?.(runs);
        },
      },
    );
    this.#watch = stream;
    this.#unfollow = effect(() => {
      this.brokenSince.value = stream.brokenSince.value;
    });
  }

  #take(news: RunNews): void {
    const run = this.run.peek();
    if (run === null || news.version <= run.version) return;
    const summary = { ...run.summary, ...news.summary };
    for (const key of news.removed ?? []) delete summary[key];
    const hasEnded = run.state !== news.state;
    const hasNewKey = Object.keys(news.summary ?? {}).some((key) => !(key in run.summary));
    this.run.value = {
      ...run,
      ...callingOf(news),
      summary,
      version: news.version,
      state: news.state,
      changed_ns: news.changed_ns,
      heartbeat_ns: Math.max(run.heartbeat_ns, news.changed_ns),
      started_ns: news.started_ns ?? run.started_ns,
      ended_ns: news.ended_ns,
      num_rows: news.num_rows,
      stop_by: news.stop_by,
    };
    this.#later("whole", () => void this.load(), hasEnded || hasNewKey ? 300 : WHOLE_MS);
    this.#later("beat", () => this.#tick(), BEAT_MS);
  }

  #heard(): void {
    this.#later("whole", () => void this.load(), 200);
    this.#tick();
  }

  #tick(): void {
    batch(() => {
      this.beat.value += 1;
      this.now.value = Date.now();
    });
  }

  #later(name: string, run: () => void, wait: number): void {
    if (this.#timers.has(name) || this.#isOver) return;
    this.#timers.set(
      name,
      setTimeout(() => {
        this.#timers.delete(name);
        run();
      }, wait),
    );
  }
}

export const RunContext = createContext<RunModel | null>(null);

export function useRun(): RunModel {
  const model = useContext(RunContext);
  if (model === null) throw new Error("outside of a run page");
  return model;
}

/** An answer about the run that is asked for again as the run goes on. */
export function useFresh<T>(path: string | null, query?: Query): Answer<T> {
  const { beat } = useRun();
  const answer = useAnswer<T>(path, query);
  const asked = useRef(beat.peek());
  const { reload } = answer;
  const now = beat.value;
  useEffect(() => {
    if (asked.current === now) return;
    asked.current = now;
    reload();
  }, [now, reload]);
  return answer;
}
