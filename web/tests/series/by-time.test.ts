import { expect, it } from "vitest";
import { placedByTime } from "../../src/series/by-time";
import { rawCurve } from "../../src/series/curve";

const f = (...values: number[]) => Float64Array.from(values);
const samples = (time: number[]) =>
  rawCurve({ run: "a", key: "system.cpu" }, f(...time.keys()), f(...time), f(...time), f(...time));

it("a sample lies between the points that were logged around it", () => {
  const guide = rawCurve({ run: "a", key: "loss" }, f(0, 10, 20), f(100, 110, 130), f(1, 1, 1));
  const placed = placedByTime(samples([90, 100, 105, 120, 130, 140]), guide);
  expect(Array.from(placed.x)).toEqual([0, 5, 15, 20]);
  expect(Array.from(placed.mean)).toEqual([100, 105, 120, 130]);
});

it("steps in any order, another key as x, and gaps in it", () => {
  const guide = rawCurve(
    { run: "a", key: "loss" },
    f(0, 10, 20),
    f(130, 100, 110),
    f(1, 1, 1),
    f(30, 10, Number.NaN),
  );
  expect(Array.from(placedByTime(samples([100, 115, 130]), guide).x)).toEqual([10, 20, 30]);
});

it("of a run that logged nothing there is no place", () => {
  const guide = rawCurve({ run: "a", key: "loss" }, f(), f(), f());
  expect(placedByTime(samples([1, 2]), guide).x).toHaveLength(0);
});

it("all at one moment lie at the end of it", () => {
  const guide = rawCurve({ run: "a", key: "loss" }, f(0, 1), f(5, 5), f(1, 1));
  expect(Array.from(placedByTime(samples([5]), guide).x)).toEqual([0]);
});
