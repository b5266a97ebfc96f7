// Curves from the server: typed arrays over the bytes of the answer, nothing parsed or copied. Panels that ask in the
// same moment for the same runs and range share one request; what has not changed is not sent again (ETag).

import type { Curve } from "../series/curve";
import { AnswerCache } from "./cache";
import { send } from "./client";

export interface CurveAsk {
  /** Paths: entity/project/run. */
  runs: readonly string[];
  keys: readonly string[];
  axis?: "step" | "time" | "relative";
  /** A range of the axis, ends included: steps, or nanoseconds. */
  first?: number | null;
  last?: number | null;
  pixels?: number;
  system?: boolean;
  attempt?: number | null;
  /** Another logged key as the x axis. */
  xKey?: string | null;
}

/** Curves of one request, and buckets of all of them, that the server takes. */
const MAX_CURVES = 1000;
const MAX_BUCKETS = 2_000_000;
const DEFAULT_PIXELS = 1000;

const cache = new AnswerCache<Curve[]>(64);

interface Waiting {
  ask: CurveAsk;
  abort: AbortSignal | undefined;
  resolve(curves: Curve[]): void;
  reject(error: unknown): void;
}
const waiting = new Map<string, Waiting[]>();

/** Return the curves of every key of every run; runs that lack a key have none. */
export function readCurves(ask: CurveAsk, abort?: AbortSignal): Promise<Curve[]> {
  return new Promise((resolve, reject) => {
    const { keys: _, ...shared } = ask;
    const batch = JSON.stringify(shared);
    const others = waiting.get(batch);
    const mine = { ask, abort, resolve, reject };
    if (others) others.push(mine);
    else {
      waiting.set(batch, [mine]);
      setTimeout(() => void readBatch(batch), 0);
    }
  });
}

async function readBatch(batch: string): Promise<void> {
  const all = waiting.get(batch) ?? [];
  waiting.delete(batch);
  const wanted = all.filter((one) => !one.abort?.aborted);
  for (const one of all) if (one.abort?.aborted) one.reject(one.abort.reason);
  const [first] = wanted;
  if (!first) return;
  const keys = [...new Set(wanted.flatMap((one) => one.ask.keys))];
  // Aborted only if nobody wants it any more.
  const abort = new AbortController();
  const check = () => wanted.every((one) => one.abort?.aborted) && abort.abort();
  for (const one of wanted) one.abort?.addEventListener("abort", check);
  try {
    const parts = await Promise.all(
      requestsOf({ ...first.ask, keys }).map((part) => request(part, abort.signal)),
    );
    const curves = parts.flat();
    for (const one of wanted) {
      const own = new Set(one.ask.keys);
      one.resolve(own.size === keys.length ? curves : curves.filter((curve) => own.has(curve.key)));
    }
  } catch (error) {
    for (const one of wanted) one.reject(error);
  } finally {
    for (const one of wanted) one.abort?.removeEventListener("abort", check);
  }
}

/** Cut a question into ones that the server takes. */
export function requestsOf(ask: CurveAsk): CurveAsk[] {
  const most = Math.max(1, Math.min(MAX_CURVES, Math.floor(MAX_BUCKETS / (ask.pixels ?? DEFAULT_PIXELS))));
  const runs = cut(ask.runs, most);
  return runs.flatMap((some) =>
    cut(ask.keys, Math.max(1, Math.floor(most / some.length))).map((keys) => ({ ...ask, runs: some, keys })),
  );
}

function cut<T>(all: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let i = 0; i < all.length; i += size) parts.push(all.slice(i, i + size));
  return parts;
}

async function request(ask: CurveAsk, abort: AbortSignal): Promise<Curve[]> {
  const body = {
    runs: ask.runs,
    keys: ask.keys,
    axis: ask.axis ?? "step",
    first: ask.first ?? null,
    last: ask.last ?? null,
    pixels: ask.pixels ?? DEFAULT_PIXELS,
    system: ask.system ?? false,
    attempt: ask.attempt ?? null,
    x_key: ask.xKey ?? null,
  };
  const name = JSON.stringify(body);
  const known = cache.find(name);
  const headers: Record<string, string> = known ? { "If-None-Match": known.etag } : {};
  const answer = await send("POST", "/series", { body, abort, headers, waits: true });
  if (answer.status === 304 && known) return known.value;
  const curves = decodeCurves(await answer.arrayBuffer(), body.axis);
  cache.put(name, answer.headers.get("etag"), curves);
  return curves;
}

type Column = ["f8" | "u4", number, number];
interface Head {
  run: string;
  key: string;
  lane: string;
  is_raw: boolean;
  is_approximate: boolean;
  started_ns: number;
  version: number;
  columns: Record<string, Column>;
}

/** Return the curves of a body (docs/wire-format.md). */
export function decodeCurves(body: ArrayBuffer, axis: "step" | "time" | "relative"): Curve[] {
  const size = Number(new DataView(body).getBigUint64(0, true));
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 8, size))) as { series: Head[] };
  return head.series.map((facts) => curveOf(facts, body, axis));
}

function curveOf(facts: Head, body: ArrayBuffer, axis: "step" | "time" | "relative"): Curve {
  const floats = (name: string): Float64Array | null => {
    const column = facts.columns[name];
    return column ? new Float64Array(body, column[1], column[2]) : null;
  };
  const counts = (name: string): Uint32Array | null => {
    const column = facts.columns[name];
    return column ? new Uint32Array(body, column[1], column[2]) : null;
  };
  const none = new Float64Array(0);
  const step = floats("step") ?? none;
  const time = floats("time") ?? none;
  const mean = floats(facts.is_raw ? "value" : "mean") ?? none;
  return {
    run: facts.run,
    key: facts.key,
    lane: facts.lane,
    isRaw: facts.is_raw,
    isApproximate: facts.is_approximate,
    startedNs: facts.started_ns,
    version: facts.version,
    step,
    stepEnd: floats("step_end") ?? step,
    time,
    timeEnd: floats("time_end") ?? time,
    x: floats("x") ?? (axis === "step" ? step : time),
    mean,
    min: floats("min") ?? mean,
    max: floats("max") ?? mean,
    first: floats("first") ?? mean,
    last: floats("last") ?? mean,
    minStep: floats("min_step"),
    maxStep: floats("max_step"),
    count: counts("count"),
    nan: counts("nan"),
    posinf: counts("posinf"),
    neginf: counts("neginf"),
  };
}
