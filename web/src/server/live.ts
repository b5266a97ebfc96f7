// Changes as they happen: one stream per page. A stream that breaks is taken up where it broke (Last-Event-ID); if that
// is too long ago, `reset` says what to read again.

import { type Signal, signal } from "@preact/signals";
import { Backoff } from "./backoff";
import { address, lost, lostSince, needsSignIn } from "./client";
import { EventParser, type ServerEvent } from "./events";
import type { RunItem, RunState } from "./types";

export interface Interest {
  /** Paths: entity/project/run; at most 500. */
  runs?: readonly string[];
  /** Paths: entity/project; at most 50. */
  projects?: readonly string[];
  /** Keys whose new points are wanted; at most 500. */
  keys?: readonly string[];
}

/** A run changed. */
export interface RunNews {
  run: string;
  version: number;
  state: RunState;
  changed_ns: number;
  started_ns: number | null;
  ended_ns: number | null;
  num_rows: number;
  is_deleted: boolean;
  stop_by: string | null;
  /** What changed of what people call it. */
  name?: string;
  notes?: string;
  tags?: string[];
  group?: string | null;
  job_type?: string | null;
  /** What changed in the summary, and which keys of it are gone. */
  summary?: Record<string, unknown>;
  removed?: string[];
}

/** What people call a run, as far as it changed. */
export function callingOf(
  news: RunNews,
): Partial<Pick<RunItem, "name" | "notes" | "tags" | "group" | "job_type">> {
  return {
    ...(news.name !== undefined && { name: news.name }),
    ...(news.notes !== undefined && { notes: news.notes }),
    ...(news.tags !== undefined && { tags: news.tags }),
    ...(news.group !== undefined && { group: news.group }),
    ...(news.job_type !== undefined && { job_type: news.job_type }),
  };
}

/** New points of a key. */
export interface PointNews {
  run: string;
  key: string;
  version: number;
  /** Points from this step on that came before no longer count. */
  replacesFrom: number | null;
  /** Too many to send: ask for the series again. */
  isCut: boolean;
  steps: Float64Array;
  /** Seconds since the epoch. */
  times: Float64Array;
  values: Float64Array;
}

export interface Listener {
  run?(news: RunNews): void;
  points?(news: PointNews): void;
  /** These runs changed while nobody listened, null: anything may have; read them again. */
  reset?(runs: readonly string[] | null): void;
}

export interface Watch {
  /** Since when (ms) the stream is broken; null while it flows. */
  readonly brokenSince: Signal<number | null>;
  stop(): void;
}

/** A stream that is silent for longer than the server's sign of life (15 s) is dead. */
const SILENCE_MS = 40_000;

/** Watch runs or projects until told to stop. */
export function watch(interest: Interest, listener: Listener): Watch {
  const brokenSince = signal<number | null>(null);
  const abort = new AbortController();
  void follow(interest, listener, brokenSince, abort.signal);
  return { brokenSince, stop: () => abort.abort() };
}

async function follow(
  interest: Interest,
  listener: Listener,
  brokenSince: Signal<number | null>,
  abort: AbortSignal,
): Promise<void> {
  const backoff = new Backoff();
  let lastId: string | null = null;
  let hasMissed = false;
  const onEvent = (event: ServerEvent): void => {
    if (event.id !== null) lastId = event.id;
    if (event.name === "hello") {
      brokenSince.value = null;
      backoff.reset();
      // Without an id nobody can tell what was missed.
      if (hasMissed && event.id !== null) listener.reset?.(null);
      hasMissed = true;
    } else dispatch(event, listener);
  };
  while (!abort.aborted) {
    const isFinal = await flow(interest, lastId, onEvent, abort);
    if (isFinal || abort.aborted) return;
    brokenSince.value ??= Date.now();
    await new Promise((done) => setTimeout(done, backoff.next()));
    while (lostSince.value !== null && !abort.aborted) await new Promise((done) => setTimeout(done, 200));
  }
}

/** Read one stream to its end; return whether another try makes no sense. */
async function flow(
  interest: Interest,
  lastId: string | null,
  onEvent: (event: ServerEvent) => void,
  abort: AbortSignal,
): Promise<boolean> {
  const inner = new AbortController();
  const end = () => inner.abort();
  abort.addEventListener("abort", end);
  let timer = setTimeout(end, SILENCE_MS);
  try {
    const answer = await fetch(
      address("/live", { runs: interest.runs, project: interest.projects, keys: interest.keys }),
      { headers: lastId === null ? {} : { "Last-Event-ID": lastId }, signal: inner.signal },
    );
    if (!answer.ok || answer.body === null) return answer.status >= 400 && answer.status < 429;
    const parser = new EventParser();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
      for (const event of parser.push(value)) onEvent(event);
    }
  } catch (error) {
    if (inner.signal.aborted) return false;
    if (error instanceof TypeError) {
      lost(); // the search for it says when it is back
      return false;
    }
    throw error;
  } finally {
    clearTimeout(timer);
    abort.removeEventListener("abort", end);
  }
}

function dispatch(event: ServerEvent, listener: Listener): void {
  const data = JSON.parse(event.data) as Record<string, unknown>;
  if (event.name === "run") listener.run?.(data as unknown as RunNews);
  else if (event.name === "series") listener.points?.(pointsOf(data));
  else if (event.name === "reset") listener.reset?.((data.runs as string[] | null) ?? null);
  // A key has ended: whoever it was signs in again.
  else if (event.name === "end" && data.reason === "denied") needsSignIn.value = true;
}

export function pointsOf(data: Readonly<Record<string, unknown>>): PointNews {
  const times = numbers(data.times_ns);
  for (let i = 0; i < times.length; i++) times[i] = (times[i] as number) / 1e9;
  return {
    run: String(data.run),
    key: String(data.key),
    version: Number(data.version),
    replacesFrom: typeof data.replaces_from === "number" ? data.replaces_from : null,
    isCut: data.is_cut === true,
    steps: numbers(data.steps),
    times,
    values: numbers(data.values),
  };
}

/** "NaN" and "Infinity" come as texts, which Number() reads. */
function numbers(cells: unknown): Float64Array {
  return Array.isArray(cells) ? Float64Array.from(cells, Number) : new Float64Array(0);
}
