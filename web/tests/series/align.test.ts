import { describe, expect, it } from "vitest";
import {
  joinLines,
  lowerBound,
  nearestIndex,
  nearestPoints,
  sortedByX,
  unionOf,
} from "../../src/series/align";
import { Random } from "../random";

const f = (...values: number[]): Float64Array => Float64Array.from(values);
const line = (x: Float64Array, y: Float64Array) => ({ x, y, low: null, high: null });

describe("union", () => {
  it("is sorted and holds each once, but what one has twice twice", () => {
    expect(unionOf([f(1, 3, 5), f(2, 3), f(0, 5, 5)])).toEqual(f(0, 1, 2, 3, 5, 5));
    expect(unionOf([])).toEqual(f());
    expect(unionOf([f(), f(1)])).toEqual(f(1));
  });

  it("is the array itself where all are equal", () => {
    const x = f(1, 2, 3);
    expect(unionOf([x, f(1, 2, 3), x])).toBe(x);
  });

  it("is what a set says, of any arrays", () => {
    const random = new Random(4);
    for (let round = 0; round < 100; round++) {
      const arrays = random.list(6, () =>
        Float64Array.from(new Set(random.list(30, () => random.below(40)))).sort(),
      );
      const wanted = Array.from(new Set(arrays.flatMap((array) => Array.from(array)))).sort((a, b) => a - b);
      expect(Array.from(unionOf(arrays))).toEqual(wanted);
    }
  });
});

describe("join", () => {
  it("shares what is equal, without a copy", () => {
    const [x, a, b] = [f(0, 1, 2), f(1, 2, 3), f(4, 5, 6)];
    const joined = joinLines([line(x, a), line(f(0, 1, 2), b)]);
    expect(joined.x).toBe(x);
    expect(joined.y).toEqual([a, b]);
    expect(joined.y[0]).toBe(a);
  });

  it("has null for a gap that was logged and undefined for no point", () => {
    const joined = joinLines([line(f(0, 2), f(1, NaN)), line(f(1, 2), f(5, Infinity))]);
    expect(joined.x).toEqual(f(0, 1, 2));
    expect(joined.y).toEqual([
      [1, undefined, null],
      [undefined, 5, null],
    ]);
  });

  it("loses no point: every one is at its x", () => {
    const random = new Random(6);
    for (let round = 0; round < 50; round++) {
      const lines = random.list(5, () => {
        const x = Float64Array.from(random.list(20, () => random.below(15))).sort();
        return line(x, random.values(x.length, 0));
      });
      const joined = joinLines(lines);
      lines.forEach((own, at) => {
        const column = joined.y[at] as (number | undefined)[];
        const points = Array.from(joined.x, (x, i) => [x, column[i]]).filter(([, y]) => y !== undefined);
        expect(points).toEqual(Array.from(own.x, (x, i) => [x, own.y[i]]));
      });
    }
  });

  it("carries envelopes, and sorts an x that goes back", () => {
    const joined = joinLines([{ x: f(3, 1, NaN, 2), y: f(30, 10, 9, 20), low: f(3, 1, 9, 2), high: null }]);
    expect(joined).toEqual({ x: f(1, 2, 3), y: [f(10, 20, 30)], low: [f(1, 2, 3)], high: [null] });
    const fine = line(f(1, 1, 2), f(1, 2, 3));
    expect(sortedByX(fine)).toBe(fine);
  });

  it("is quick: 20 runs of 1,000 points at different x", () => {
    const random = new Random(8);
    const lines = Array.from({ length: 20 }, () => line(random.ascending(1000), random.values(1000)));
    let took = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10; round++) {
      const start = performance.now();
      joinLines(lines);
      took = Math.min(took, performance.now() - start);
    }
    console.log(`join of 20 × 1,000 points, all x different: ${took.toFixed(1)} ms`);
    expect(took).toBeLessThan(200);
  });
});

describe("nearest", () => {
  it("is a logged point, never between two, and goes over gaps", () => {
    const [x, y] = [f(0, 10, 20, 30), f(1, NaN, 3, 4)];
    expect([-5, 4, 9, 14, 16, 26, 99].map((at) => nearestIndex(x, y, at))).toEqual([0, 0, 0, 2, 2, 3, 3]);
    expect(nearestIndex(x, y, 10, 5)).toBe(-1);
    expect(nearestIndex(f(), f(), 1)).toBe(-1);
    expect(nearestIndex(f(1), f(NaN), 1)).toBe(-1);
    expect(nearestPoints([line(x, y), line(f(), f())], 21)).toEqual([{ index: 2, x: 20, y: 3 }, null]);
  });

  it("is what a search of all says", () => {
    const random = new Random(10);
    for (let round = 0; round < 300; round++) {
      const n = 1 + random.below(20);
      const [x, y] = [random.ascending(n), random.values(n, 0.3)];
      const at = random.next() * 50;
      let best = -1;
      for (let i = 0; i < n; i++) {
        if (!Number.isFinite(y[i])) continue;
        if (best < 0 || Math.abs((x[i] as number) - at) < Math.abs((x[best] as number) - at)) best = i;
      }
      expect(nearestIndex(x, y, at)).toBe(best);
    }
  });

  it("counts what lies below", () => {
    expect([0, 1, 2, 3, 4].map((at) => lowerBound(f(1, 2, 2, 3), at))).toEqual([0, 0, 1, 3, 4]);
  });
});
