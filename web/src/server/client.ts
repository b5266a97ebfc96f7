// One way to ask the server. A read that finds no server waits until it is back, so pages need no care for that; a
// change fails at once, because whoever made it should know. Problems are errors with the server's own words.

import { signal } from "@preact/signals";
import { Backoff } from "./backoff";

/** An answer other than the one that was asked for (problem+json). */
export class ServerProblem extends Error {
  override name = "ServerProblem";
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly kind = "",
    readonly request = "",
  ) {
    super(detail || title);
  }
}

/** Tell whether an error says that what was asked for is not there, or not for the asker to see. */
export function isMissing(error: Error | null): boolean {
  return error instanceof ServerProblem && error.status === 404;
}

/** No server answered a change. */
export class ServerLost extends Error {
  override name = "ServerLost";
  constructor() {
    super("The server did not answer, so nothing was changed. Try again when it is back.");
  }
}

/** Since when (ms) the server has not answered; null while it does. */
export const lostSince = signal<number | null>(null);
/** Grows each time a lost server is found again: what was shown may be old. */
export const returns = signal(0);
/** Whether the server wants a key for what was asked last. */
export const needsSignIn = signal(false);

export type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[];
export type Query = Readonly<Record<string, QueryValue>>;

export interface Ask {
  query?: Query;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  abort?: AbortSignal | undefined;
  /** Whether to wait for a lost server and ask again; GET does unless told otherwise. */
  waits?: boolean;
}

const API = "/api/v1";
const CSRF = { "X-Strobe-CSRF": "1" };
/** What a proxy says when the server behind it is away. */
const AWAY = new Set([502, 504]);
/** How long, and how often, a read waits for a server that is busy. */
const LONGEST_PAUSE_S = 10;
const MOST_LATER = 3;

/** Return the address of an endpoint: path parts as they are, parameters encoded; lists repeat, null is left out. */
export function address(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return `${path.startsWith("/api/") ? path : API + path}${text ? `?${text}` : ""}`;
}

/** Return a path with its parts encoded: place("projects", entity, project, "runs"). */
export function place(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

/** Ask, and return the answer as it came (200 to 299, or 304). */
export async function send(method: string, path: string, ask: Ask = {}): Promise<Response> {
  const waits = ask.waits ?? method === "GET";
  const backoff = new Backoff();
  let later = 0;
  for (;;) {
    const answer = await tried(method, path, ask);
    if (answer !== null && !AWAY.has(answer.status)) {
      found();
      const pause = waits ? pauseOf(answer) : null;
      if (pause !== null && later++ < MOST_LATER) {
        await slept(pause, ask.abort);
        continue;
      }
      if (answer.ok || answer.status === 304) return answer;
      const problem = await problemOf(answer);
      if (problem.status === 401) needsSignIn.value = true;
      throw problem;
    }
    lost();
    if (!waits) throw new ServerLost();
    await untilFound(ask.abort, backoff);
  }
}

export async function get<T>(path: string, query?: Query, abort?: AbortSignal): Promise<T> {
  return parsed<T>(await send("GET", path, { ...(query && { query }), abort }));
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  return parsed<T>(await send("POST", path, { body }));
}

export async function put<T>(path: string, body: unknown): Promise<T> {
  return parsed<T>(await send("PUT", path, { body }));
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return parsed<T>(await send("PATCH", path, { body }));
}

export async function remove(path: string, query?: Query): Promise<void> {
  await send("DELETE", path, query ? { query } : {});
}

/** Characters; browsers refuse to keep more than 64 KiB alive. */
const MAX_KEPT_ALIVE = 15_000;

async function tried(method: string, path: string, ask: Ask): Promise<Response | null> {
  const headers: Record<string, string> = { ...(method === "GET" ? {} : CSRF), ...ask.headers };
  const body = ask.body === undefined ? undefined : JSON.stringify(ask.body);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  // A change is shown at once, so it must arrive even if the page is left at once.
  const isChange = method === "PATCH" || method === "DELETE";
  try {
    return await fetch(address(path, ask.query), {
      method,
      headers,
      keepalive: isChange && (body?.length ?? 0) < MAX_KEPT_ALIVE,
      ...(body !== undefined && { body }),
      ...(ask.abort && { signal: ask.abort }),
    });
  } catch (error) {
    // A network failure is a TypeError; everything else, an abort above all, is the caller's.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

async function parsed<T>(answer: Response): Promise<T> {
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T);
}

async function problemOf(answer: Response): Promise<ServerProblem> {
  const isProblem = answer.headers.get("content-type")?.startsWith("application/problem+json");
  if (!isProblem) {
    return new ServerProblem(
      answer.status,
      "Not an answer of Strobe",
      `Something answered with status ${answer.status}.`,
    );
  }
  const document = (await answer.json()) as {
    title: string;
    detail?: string;
    type: string;
    request?: string;
  };
  const kind = document.type.slice(document.type.lastIndexOf(":") + 1);
  return new ServerProblem(
    answer.status,
    document.title,
    document.detail ?? "",
    kind,
    document.request ?? "",
  );
}

/** Return how long (ms) a busy server asks to wait; null if it does not, or for too long. */
function pauseOf(answer: Response): number | null {
  if (answer.status !== 429 && answer.status !== 503) return null;
  const seconds = Number(answer.headers.get("retry-after") ?? "none");
  return seconds <= LONGEST_PAUSE_S ? seconds * 1000 : null;
}

async function slept(ms: number, abort: AbortSignal | undefined): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
  abort?.throwIfAborted();
}

// --- a server that went away

let search: Promise<void> | null = null;
let knock: (() => void) | null = null;

function found(): void {
  if (lostSince.value === null) return;
  lostSince.value = null;
  returns.value += 1;
}

/** Say that the server did not answer; starts looking for it. */
export function lost(): void {
  lostSince.value ??= Date.now();
  search ??= seek().finally(() => {
    search = null;
  });
}

/** Look for a lost server now instead of when the time comes. */
export function tryNow(): void {
  knock?.();
}

async function seek(): Promise<void> {
  const backoff = new Backoff();
  while (lostSince.value !== null) {
    await new Promise<void>((done) => {
      const timer = setTimeout(done, backoff.next());
      knock = () => {
        clearTimeout(timer);
        done();
      };
    });
    const answer = await tried("GET", "/server", {});
    if (answer !== null && !AWAY.has(answer.status)) found();
  }
}

async function untilFound(abort: AbortSignal | undefined, backoff: Backoff): Promise<void> {
  // The search ends when any request gets through; the pause keeps a server that comes and goes from being hammered.
  await new Promise((done) => setTimeout(done, Math.min(backoff.next(), 1000)));
  while (lostSince.value !== null && search !== null) await search;
  abort?.throwIfAborted();
}

if (typeof window !== "undefined") {
  window.addEventListener("online", tryNow);
  document.addEventListener("visibilitychange", () => !document.hidden && tryNow());
}
