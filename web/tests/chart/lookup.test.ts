import { describe, expect, test } from "vitest";
import { isSorted, nearestIndex, windowOf } from "../../src/chart/lookup";

const NaN_ = Number.NaN;

describe("isSorted", () => {
  test("equal neighbours are in order, a fall and NaN are not", () => {
    expect(isSorted(Float64Array.of(1, 1, 2))).toBe(true);
    expect(isSorted(Float64Array.of(1, 0.5))).toBe(false);
    expect(isSorted(Float64Array.of(1, NaN_, 2))).toBe(false);
    expect(isSorted(new Float64Array())).toBe(true);
  });
});

describe("windowOf", () => {
  const x = Float64Array.of(0, 10, 20, 30, 40);

  test("holds one neighbour at each side, so that lines leave the picture", () => {
    expect(windowOf(x, 15, 25)).toEqual([1, 4]);
    expect(windowOf(x, 12, 13)).toEqual([1, 3]);
  });

  test("ends with the array", () => {
    expect(windowOf(x, -5, 100)).toEqual([0, 5]);
    expect(windowOf(x, 40, 50)).toEqual([3, 5]);
  });

  test("is everything when x is in no order", () => {
    expect(windowOf(Float64Array.of(3, 1, 2), 1, 1)).toEqual([0, 3]);
  });

  test("holds all points at the same x at its right edge", () => {
    expect(windowOf(Float64Array.of(0, 1, 1, 1, 2, 3), 0, 1)).toEqual([0, 5]);
  });
});

describe("nearestIndex", () => {
  const x = Float64Array.of(0, 10, 20, 30);

  test("finds the nearest, at the ends too", () => {
    const y = Float64Array.of(1, 2, 3, 4);
    expect(nearestIndex(x, y, 14)).toBe(1);
    expect(nearestIndex(x, y, 16)).toBe(2);
    expect(nearestIndex(x, y, -100)).toBe(0);
    expect(nearestIndex(x, y, 100)).toBe(3);
  });

  test("skips gaps", () => {
    expect(nearestIndex(x, Float64Array.of(1, NaN_, NaN_, 4), 12)).toBe(0);
    expect(nearestIndex(x, Float64Array.of(1, NaN_, NaN_, 4), 18)).toBe(3);
    expect(nearestIndex(x, new Float64Array(4).fill(NaN_), 18)).toBe(-1);
  });

  test("works when x is in no order", () => {
    expect(nearestIndex(Float64Array.of(5, 1, 3), Float64Array.of(1, 2, 3), 3.4)).toBe(2);
  });
});
