// The last answers by request, with their ETags: asked again, an unchanged answer costs no body. Bounded; the one not
// used for longest goes first.

export interface Kept<T> {
  readonly etag: string;
  readonly value: T;
}

export class AnswerCache<T> {
  readonly #kept = new Map<string, Kept<T>>();

  constructor(readonly places: number) {}

  find(name: string): Kept<T> | undefined {
    const found = this.#kept.get(name);
    if (found) {
      this.#kept.delete(name);
      this.#kept.set(name, found);
    }
    return found;
  }

  /** Keep an answer; one without an ETag could never be confirmed, so it is not kept. */
  put(name: string, etag: string | null, value: T): void {
    this.#kept.delete(name);
    if (etag === null) return;
    this.#kept.set(name, { etag, value });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.places) break;
      this.#kept.delete(oldest);
    }
  }

  clear(): void {
    this.#kept.clear();
  }
}
