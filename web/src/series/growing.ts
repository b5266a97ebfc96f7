// Typed arrays that grow at their end: amortised O(1) for a value, and a view of what is there without a copy.

type Numbers = Float64Array | Uint32Array;

export class Growing<A extends Numbers> {
  private data: A;
  length: number;

  /** Begin with what an array holds; it is copied, since it may be someone else's. */
  constructor(start: A, length = start.length) {
    this.data = grown(start, Math.max(16, length * 2));
    this.length = length;
  }

  at(index: number): number {
    return this.data[index] as number;
  }

  set(index: number, value: number): void {
    this.data[index] = value;
  }

  push(value: number): void {
    if (this.length === this.data.length) this.data = grown(this.data, this.length * 2);
    this.data[this.length++] = value;
  }

  insert(index: number, value: number): void {
    this.push(value);
    this.data.copyWithin(index + 1, index, this.length - 1);
    this.data[index] = value;
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length);
  }

  view(): A {
    return this.data.subarray(0, this.length) as A;
  }
}

function grown<A extends Numbers>(data: A, size: number): A {
  const out = (data instanceof Float64Array ? new Float64Array(size) : new Uint32Array(size)) as A;
  out.set(data.subarray(0, size));
  return out;
}
