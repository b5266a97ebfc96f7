import { expect, it } from "vitest";
import { finiteOnly, lineOf, marksOf, pointCount, rawCurve } from "../../src/series/curve";

const f = (...values: number[]): Float64Array => Float64Array.from(values);
const raw = rawCurve(
  { run: "e/p/r", key: "loss" },
  f(0, 1, 2, 3),
  f(0, 1, 2, 3),
  f(1, NaN, Infinity, -Infinity),
);
const style = { id: "r", label: "r", colour: "#000000", dash: [], width: 1, faint: false };

it("marks what no line can show, of points", () => {
  expect(marksOf(raw)).toEqual([
    { x: 1, kind: "nan", count: 1 },
    { x: 2, kind: "posinf", count: 1 },
    { x: 3, kind: "neginf", count: 1 },
  ]);
  expect(pointCount(raw)).toBe(4);
});

it("marks what no line can show, of buckets, with their counts", () => {
  const u = (...values: number[]): Uint32Array => Uint32Array.from(values);
  const zero = u(0, 0, 0, 0);
  const curve = {
    ...raw,
    isRaw: false,
    count: u(5, 5, 5, 1),
    nan: u(0, 4, 0, 0),
    posinf: u(0, 1, 0, 0),
    neginf: zero,
  };
  expect(marksOf(curve)).toEqual([
    { x: 1, kind: "nan", count: 4 },
    { x: 1, kind: "posinf", count: 1 },
  ]);
  expect(pointCount(curve)).toBe(16);
  expect(lineOf(curve, style).low).toBe(curve.min);
});

it("makes gaps of them, and copies nothing if there are none", () => {
  expect(Array.from(finiteOnly(raw.mean))).toEqual([1, NaN, NaN, NaN]);
  expect(raw.mean[2]).toBe(Infinity);
  const fine = f(1, 2);
  expect(finiteOnly(fine)).toBe(fine);
  expect(lineOf(raw, style)).toMatchObject({ low: null, high: null, members: 1 });
});
