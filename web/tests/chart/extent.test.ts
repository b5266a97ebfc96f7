import { describe, expect, test } from "vitest";
import { xExtent, yExtent } from "../../src/chart/extent";
import { bendOf } from "../../src/chart/scale";
import { line, range } from "./lines";

const linear = bendOf("linear");
const log = bendOf("log");
const everywhere = { min: -Infinity, max: Infinity };

describe("xExtent", () => {
  test("spans all lines and their marks", () => {
    const lines = [line([3, 9], [1, 1]), line([1, 5], [1, 1], { marks: [{ x: 20, kind: "nan", count: 1 }] })];
    expect(xExtent(lines, linear)).toEqual({ min: 1, max: 20 });
  });

  test("of one point has room, of none is something", () => {
    expect(xExtent([line([5], [1])], linear)).toEqual({ min: 4.5, max: 5.5 });
    expect(xExtent([], log)).toEqual({ min: 1, max: 10 });
  });

  test("on a log axis begins with the first place that exists", () => {
    expect(xExtent([line([0, 1, 10], [1, 1, 1])], log)).toEqual({ min: 1, max: 10 });
  });

  test("of x in no order is that of all points", () => {
    expect(xExtent([line([5, 9, 2, 4], [1, 1, 1, 1])], linear)).toEqual({ min: 2, max: 9 });
  });
});

describe("yExtent", () => {
  test("holds the envelope, so that the band is always seen whole", () => {
    const one = line([0, 1], [5, 6], { low: Float64Array.of(-10, 5), high: Float64Array.of(6, 20) });
    const { range: found } = yExtent([one], everywhere, linear, null);
    expect(found.min).toBeLessThan(-10);
    expect(found.max).toBeGreaterThan(20);
  });

  test("looks at the window only", () => {
    const one = line([0, 1, 2, 3], [1000, 1, 2, -1000]);
    const { range: found } = yExtent([one], { min: 1, max: 2 }, linear, null);
    expect(found.max).toBeLessThan(3);
    expect(found.min).toBeGreaterThanOrEqual(0);
  });

  test("between two points shows the line through the window", () => {
    const { range: found } = yExtent([line([0, 10], [3, 5])], { min: 4, max: 6 }, linear, null);
    expect(found.min).toBeLessThan(3);
    expect(found.max).toBeGreaterThan(5);
  });

  test("counts what clipping hides and what a log axis cannot show", () => {
    const one = line(range(6), [-100, 1, 2, 3, 500, 600]);
    expect(yExtent([one], everywhere, linear, { low: 0, high: 10 }).hidden).toEqual({
      notPositive: 0,
      above: 2,
      below: 1,
    });
    expect(yExtent([line(range(4), [0, -1, 5, Number.NaN])], everywhere, log, null).hidden.notPositive).toBe(
      2,
    );
  });

  test("does not begin below 0 when nothing does", () => {
    expect(yExtent([line([0, 1], [0.001, 10])], everywhere, linear, null).range.min).toBe(0);
  });

  test("of a constant has room on both sides", () => {
    expect(yExtent([line([0, 1], [1e-7, 1e-7])], everywhere, linear, null).range).toEqual({
      min: expect.closeTo(0.9e-7, 12),
      max: expect.closeTo(1.1e-7, 12),
    });
  });
});
