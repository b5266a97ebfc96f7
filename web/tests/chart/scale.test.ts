import { describe, expect, test } from "vitest";
import { bendOf, panBy, pixelScale, zoomAround } from "../../src/chart/scale";

describe.each(["linear", "log", "symlog"] as const)("%s", (kind) => {
  const bend = bendOf(kind, 0.1);
  const range = kind === "log" ? { min: 0.01, max: 1000 } : { min: -5, max: 1000 };
  const scale = pixelScale(bend, range, 300, 20);

  test("ends lie at the ends, and pixels go back to values", () => {
    expect(scale.at(range.min)).toBeCloseTo(300);
    expect(scale.at(range.max)).toBeCloseTo(20);
    for (const value of [0.5, 3, 999]) expect(scale.invert(scale.at(value))).toBeCloseTo(value, 6);
  });

  test("zooming keeps the place of the value under the pointer", () => {
    const before = pixelScale(bend, range, 0, 100).at(7);
    const closer = zoomAround(bend, range, 7, 0.5);
    expect(pixelScale(bend, closer, 0, 100).at(7)).toBeCloseTo(before);
  });

  test("panning there and back is nothing", () => {
    const back = panBy(bend, panBy(bend, range, 0.25), -0.25);
    expect(back.min).toBeCloseTo(range.min);
    expect(back.max).toBeCloseTo(range.max);
  });
});
