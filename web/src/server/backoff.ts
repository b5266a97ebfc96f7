// How long to wait before the next try: doubling from half a second to ten, less up to a quarter by chance, so that
// many pages do not knock at the same moment.

const FIRST_MS = 500;
const LAST_MS = 10_000;

export class Backoff {
  #wait = FIRST_MS;

  /** Return the milliseconds to wait now. */
  next(random: () => number = Math.random): number {
    const wait = this.#wait;
    this.#wait = Math.min(LAST_MS, wait * 2);
    return wait * (1 - random() / 4);
  }

  reset(): void {
    this.#wait = FIRST_MS;
  }
}
