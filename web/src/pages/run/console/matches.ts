// The search of a console: the server looks, page by page; the numbers of the lines that match come here.

import { signal } from "@preact/signals";
import { get } from "../../../server/client";
import type { ConsoleAnswer } from "../documents";
import type { Wanted } from "./find";
import type { LaneChoice } from "./pages";

const AT_ONCE = 1000;
/** Then it waits to be told to go on. */
const MOST = 20_000;

export class Matches {
  /** Numbers of lines, in order. */
  readonly lines = signal<readonly number[]>([]);
  readonly isLooking = signal(false);
  /** Where to go on, null at the end. */
  readonly next = signal<number | null>(null);
  readonly problem = signal<Error | null>(null);
  readonly #abort = new AbortController();

  constructor(
    readonly address: string,
    readonly wanted: Wanted,
    readonly choice: LaneChoice,
  ) {}

  stop(): void {
    this.#abort.abort();
  }

  /** Look until the end, or until there are many more. */
  async look(from = 0): Promise<void> {
    const { text, isRegex, matchCase } = this.wanted;
    this.isLooking.value = true;
    this.problem.value = null;
    const limit = this.lines.peek().length + MOST;
    let start: number | null = from;
    try {
      while (start !== null && this.lines.peek().length < limit) {
        const query = {
          ...this.choice,
          text,
          regex: isRegex,
          match_case: matchCase,
          start,
          limit: AT_ONCE,
          styles: false,
        };
        const answer: ConsoleAnswer = await get<ConsoleAnswer>(
          `${this.address}/search`,
          query,
          this.#abort.signal,
        );
        if (answer.items.length > 0) {
          this.lines.value = [...this.lines.peek(), ...answer.items.map((line) => line.number)];
        }
        start = answer.cursor === null ? null : Number(answer.cursor);
      }
      this.next.value = start;
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem.value = error as Error;
    } finally {
      this.isLooking.value = false;
    }
  }
}

/** Return the place in a sorted list of the next number after one, or before it; around at the ends. */
export function nextMatch(lines: readonly number[], after: number, direction: 1 | -1): number {
  if (lines.length === 0) return -1;
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] as number) < after + (direction > 0 ? 1 : 0)) low = middle + 1;
    else high = middle;
  }
  if (direction > 0) return low === lines.length ? 0 : low;
  return low === 0 ? lines.length - 1 : low - 1;
}
