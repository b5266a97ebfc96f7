import { describe, expect, test } from "vitest";
import { pointBeside } from "../../src/chart/keyboard";
import { line } from "./lines";

describe("pointBeside", () => {
  const one = line([0, 10, 20, 30, 40], [1, 2, Number.NaN, 4, 5]);
  const all = { min: 0, max: 40 };

  test("walks over gaps from point to point and stops at the ends", () => {
    expect(pointBeside(one, all, 10, 1)).toBe(30);
    expect(pointBeside(one, all, 30, -1)).toBe(10);
    expect(pointBeside(one, all, 0, 10)).toBe(40);
    expect(pointBeside(one, all, 40, 1)).toBe(40);
  });

  test("begins at an end, and stays in view", () => {
    expect(pointBeside(one, all, null, 1)).toBe(0);
    expect(pointBeside(one, all, null, -1)).toBe(40);
    expect(pointBeside(one, { min: 5, max: 35 }, 12, Infinity)).toBe(30);
    expect(pointBeside(one, { min: 15, max: 25 }, null, 1)).toBeNull();
  });
});
