import { expect, it } from "vitest";
import { clippedPoints, clipRange } from "../../src/series/outlier";

const f = (...values: number[]): Float64Array => Float64Array.from(values);
const line = (y: Float64Array, low: Float64Array | null = null, high: Float64Array | null = null) => ({
  x: Float64Array.from(y, (_, i) => i),
  y,
  low,
  high,
});

it("cuts percentiles and counts what that hides", () => {
  const y = Float64Array.from({ length: 101 }, (_, i) => i);
  expect(clipRange([line(y)], 5)).toEqual({ low: 5, high: 95, above: 5, below: 5, total: 101 });
});

it("takes all lines together, and only what is in view", () => {
  const got = clipRange([line(f(0, 1, 1000)), line(f(2, 3, NaN))], 0, 0, 1);
  expect(got).toEqual({ low: 0, high: 3, above: 0, below: 0, total: 4 });
});

it("without a cut is the whole range with its envelope", () => {
  expect(clipRange([line(f(1, 2), f(-5, 2), f(1, 9))], 0)).toMatchObject({ low: -5, high: 9 });
});

it("hides nothing of constants, has no range of nothing, and never turns round", () => {
  expect(clipRange([line(f(2, 2, 2))], 10)).toEqual({ low: 2, high: 2, above: 0, below: 0, total: 3 });
  expect(clipRange([line(f())], 1)).toBeNull();
  expect(clipRange([line(f(NaN, Infinity))], 1)).toBeNull();
  const wide = clipRange([line(f(1, 2, 3, 4))], 90);
  expect(wide?.low).toBeLessThan(wide?.high as number);
});

it("says which points lie beyond", () => {
  expect(clippedPoints(f(1, 9, NaN, -3, 9), { low: 0, high: 5 })).toEqual({ above: [1, 4], below: [3] });
});
