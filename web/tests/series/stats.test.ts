import { expect, it } from "vitest";
import { rawCurve } from "../../src/series/curve";
import { bestOf, median, quantile, quantileSorted, statsOf } from "../../src/series/stats";
import { Random } from "../random";

const f = (...values: number[]): Float64Array => Float64Array.from(values);

it("tells extremes with their first place, mean, last, and counts what is not finite", () => {
  expect(statsOf(f(NaN, 3, 1, Infinity, 1, 5, -Infinity, 5, NaN))).toEqual({
    count: 9,
    nan: 2,
    posinf: 1,
    neginf: 1,
    min: 1,
    minAt: 2,
    max: 5,
    maxAt: 5,
    mean: 3,
    last: NaN,
  });
});

it("has no extremes of nothing", () => {
  for (const values of [f(), f(NaN), f(Infinity)]) {
    expect(statsOf(values)).toMatchObject({ min: NaN, minAt: -1, max: NaN, maxAt: -1, mean: NaN });
    expect(quantile(values, 0.5)).toBeNaN();
  }
});

it("does not overflow", () => {
  expect(statsOf(f(1.7e308, 1.7e308)).mean).toBe(1.7e308);
});

it("interpolates quantiles as numpy does by default", () => {
  expect(quantile(f(4, 1, NaN, 3, 2, Infinity), 0.25)).toBe(1.75);
  expect([0, 1, -1, 2].map((q) => quantile(f(5, 6, 7), q))).toEqual([5, 7, 5, 7]);
  expect(median(f(1, 2, 3, 10))).toBe(2.5);
  expect(quantile(f(0.1, 0.1, 0.1), 0.3)).toBe(0.1);
});

it("never leaves the neighbours, whatever the share", () => {
  const random = new Random(2);
  for (let round = 0; round < 200; round++) {
    const values = random.values(1 + random.below(20), 0).sort();
    const q = random.next();
    const at = q * (values.length - 1);
    const got = quantileSorted(values, q);
    expect(got).toBeGreaterThanOrEqual((values[Math.floor(at)] as number) - 1e-12);
    expect(got).toBeLessThanOrEqual((values[Math.ceil(at)] as number) + 1e-12);
  }
});

it("finds the best of points and of buckets, with the step at which it was logged", () => {
  const raw = rawCurve({ run: "e/p/r", key: "acc" }, f(10, 20, 30), f(0, 1, 2), f(0.5, NaN, 0.2));
  expect(bestOf(raw, "max")).toEqual({ value: 0.5, step: 10 });
  expect(bestOf(raw, "min")).toEqual({ value: 0.2, step: 30 });
  const buckets = { ...raw, isRaw: false, min: f(0.1, NaN, 0.05), minStep: f(12, 20, 39) };
  expect(bestOf(buckets, "min")).toEqual({ value: 0.05, step: 39 });
  expect(bestOf(rawCurve({ run: "", key: "" }, f(1), f(1), f(NaN)), "min")).toBeNull();
});
