import { expect, it } from "vitest";
import { droppedNote, showable, symlogThreshold, transform } from "../../src/series/scale";

const f = (...values: number[]): Float64Array => Float64Array.from(values);

it.each(["linear", "log", "symlog"] as const)("%s goes there and back, and ascends", (scale) => {
  const { to, from } = transform(scale, 0.01);
  const values = [1e-9, 0.003, 0.01, 0.5, 1, 40, 1e12];
  for (const value of values) expect(from(to(value)) / value).toBeCloseTo(1, 10);
  const places = values.map(to);
  expect(places).toEqual(places.slice().sort((a, b) => a - b));
});

it("symlog is odd, 0 at 0, linear near it", () => {
  const { to } = transform("symlog", 10);
  expect(to(0)).toBe(0);
  expect(to(-3)).toBe(-to(3));
  expect(to(0.02) / to(0.01)).toBeCloseTo(2, 5);
});

it("log has no place for 0 and less: gaps, counted and told", () => {
  expect(transform("log").to(0)).toBeNaN();
  expect(transform("log").to(-1)).toBeNaN();
  const { values, dropped } = showable(f(1, 0, -2, NaN, -Infinity, 3), "log");
  expect(Array.from(values)).toEqual([1, NaN, NaN, NaN, NaN, 3]);
  expect(dropped).toBe(2);
  expect(droppedNote(2, 1340)).toBe("2 of 1,340 values are 0 or less: not on a log axis, symlog shows them");
  expect(droppedNote(0, 5)).toBe("");
});

it("copies nothing where all can be shown", () => {
  const fine = f(1, 2, NaN);
  expect(showable(fine, "log").values).toBe(fine);
  const any = f(-1, 0);
  expect(showable(any, "symlog")).toEqual({ values: any, dropped: 0 });
});

it("takes the threshold from the small values", () => {
  expect(symlogThreshold([f(0, 0.002, -5, 100)])).toBeCloseTo(0.1, 12);
  expect(symlogThreshold([f(0.001)])).toBeCloseTo(0.001, 15);
  expect(symlogThreshold([f(0, NaN), f()])).toBe(1);
  expect(symlogThreshold([f(5e-324)])).toBeGreaterThan(0);
});
