// Smoothing beside the page's thread: short curves at once, long ones in a worker, and of several questions about the same
// line (a slider that moves) only the newest is worked on.

import type { Smoothing } from "../view/state";
import { type SmoothOptions, smooth } from "./smooth";
import { answer, type SmoothAnswer, type SmoothRequest } from "./smooth-request";

/** What a Worker and a MessagePort have in common. */
export interface Port {
  onmessage: ((event: MessageEvent) => void) | null;
  onerror?: ((event: ErrorEvent) => void) | null;
  postMessage(message: unknown): void;
}

/** Curves up to this length are smoothed at once: a few milliseconds, the median 20. */
export const SHORT = 20_000;

interface Waiting {
  readonly line: string;
  readonly request: SmoothRequest;
  readonly resolve: (y: Float64Array | null) => void;
}

/** Smooths lines, one at a time, in a worker that is started when the first long one comes. */
export class Smoother {
  private port: Port | null = null;
  private working: Waiting | null = null;
  private readonly queue = new Map<string, Waiting>();
  private lastId = 0;
  private isBroken = false;

  constructor(private readonly open: () => Port = openWorker) {}

  /** Return the smoothed values; null if a newer question about the same line came meanwhile. */
  smooth(
    line: string,
    x: Float64Array,
    y: Float64Array,
    smoothing: Smoothing,
    options: SmoothOptions = {},
  ): Float64Array | Promise<Float64Array | null> {
    this.queue.get(line)?.resolve(null);
    this.queue.delete(line);
    if (y.length <= SHORT || smoothing.kind === "none") return smooth(x, y, smoothing, options);
    return new Promise((resolve) => {
      const request = { id: ++this.lastId, x, y, smoothing, options };
      this.queue.set(line, { line, request, resolve });
      this.work();
    });
  }

  private work(): void {
    const next = this.working === null ? this.queue.values().next().value : undefined;
    if (next === undefined) return;
    this.queue.delete(next.line);
    this.working = next;
    if (this.port === null) {
      this.port = this.open();
      this.port.onmessage = (event) => this.take(event.data as SmoothAnswer);
      this.port.onerror = () => this.fail();
    }
    if (this.isBroken) this.take(answer(next.request));
    else this.port.postMessage(next.request);
  }

  /** A worker that cannot run must not leave lines undrawn: from here on the page's thread does its work. */
  private fail(): void {
    this.isBroken = true;
    if (this.working !== null) this.take(answer(this.working.request));
  }

  private take({ id, y }: SmoothAnswer): void {
    const done = this.working;
    if (done === null || done.request.id !== id) return;
    this.working = null;
    done.resolve(this.queue.has(done.line) ? null : y);
    this.work();
  }
}

function openWorker(): Port {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}
