// Random values for property tests that are the same in every run: a seed, no dependency.

export class Random {
  constructor(private state: number) {}

  /** From 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from 0 up to, not including, `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  /** Ascending x with uneven gaps, some of them 0 if wanted. */
  ascending(n: number, repeats = false): Float64Array {
    let at = this.below(10);
    return Float64Array.from({ length: n }, () => {
      at += repeats && this.chance(0.1) ? 0 : this.next() * 3 + 0.01;
      return at;
    });
  }

  /** Values with gaps. */
  values(n: number, gaps = 0.05): Float64Array {
    return Float64Array.from({ length: n }, () => {
      if (!this.chance(gaps)) return this.next() * 10 - 3;
      return this.pick([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    });
  }

  /** Text with the characters that break naive codecs. */
  text(most = 8): string {
    const letters = [
      "a",
      "Z",
      "0",
      ".",
      ",",
      "/",
      "\\",
      '"',
      "'",
      "`",
      " ",
      "&",
      "=",
      "+",
      "%",
      "?",
      "#",
      ":",
      "é",
      "漢",
      "🙂",
      "\n",
      "[",
      "]",
      "(",
      ")",
    ];
    return this.list(most, () => this.pick(letters)).join("");
  }
}
