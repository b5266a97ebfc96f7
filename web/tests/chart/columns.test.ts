import { describe, expect, test } from "vitest";
import { eachStretch } from "../../src/chart/columns";
import { bendOf, pixelScale } from "../../src/chart/scale";
import { range } from "./lines";

const linear = bendOf("linear");
const xs = pixelScale(linear, { min: 0, max: 100 }, 0, 100);
const ys = pixelScale(linear, { min: 0, max: 10 }, 100, 0);

function covered(x: readonly number[], y: readonly number[], scaleX = xs, scaleY = ys) {
  const stretches: { first: number; top: number[]; bottom: number[]; slope: number[] }[] = [];
  const dots: [number, number][] = [];
  const cut = (values: Float32Array, from: number, to: number): number[] => [...values.subarray(from, to)];
  eachStretch(
    Float64Array.from(x),
    Float64Array.from(y),
    scaleX,
    scaleY,
    [0, x.length],
    100,
    ({ first, last, top, bottom, slope }) =>
      stretches.push({
        first,
        top: cut(top, first, last),
        bottom: cut(bottom, first, last),
        slope: cut(slope, first, last),
      }),
    (px, py) => dots.push([px, py]),
  );
  return { stretches, dots };
}

describe("eachStretch", () => {
  test("goes straight from point to point, through the columns between", () => {
    const { stretches } = covered([10.5, 14.5], [5, 6]);
    expect(stretches).toHaveLength(1);
    expect(stretches[0]?.first).toBe(10);
    expect(stretches[0]?.top).toEqual([48.75, 46.25, 43.75, 41.25, 40]);
    expect(stretches[0]?.bottom).toEqual([50, 48.75, 46.25, 43.75, 41.25]);
  });

  test("only what rises or falls gently all over a column has a slope", () => {
    expect(covered([0, 4], [5, 4.8]).stretches[0]?.slope.slice(1, 3)).toEqual([0.5, 0.5]);
    expect(covered([0, 4], [5, 0]).stretches[0]?.slope.slice(1, 3)).toEqual([0, 0]);
    expect(covered([0.5, 1.2, 1.5, 2.5], [5, 5.2, 5, 5]).stretches[0]?.slope[1]).toBe(0);
  });

  test("no column loses a point, however many lie in it", () => {
    const n = 5000;
    const x = range(n).map((i) => (i * 100) / n);
    const y = x.map((_, i) => 5 + 4 * Math.sin(i * i));
    const [all] = covered(x, y).stretches;
    expect(all?.top).toHaveLength(100);
    x.forEach((place, i) => {
      const at = Math.floor(place);
      expect(ys.at(y[i] as number)).toBeGreaterThanOrEqual((all?.top[at] as number) - 1e-4);
      expect(ys.at(y[i] as number)).toBeLessThanOrEqual((all?.bottom[at] as number) + 1e-4);
    });
  });

  test("neighbours touch: a line has no holes", () => {
    const y = range(300).map((i) => 5 + 4 * Math.sin(i * i * i));
    const [all] = covered(
      range(300).map((i) => i / 3),
      y,
    ).stretches;
    for (let at = 1; at < 100; at++) {
      expect(all?.top[at]).toBeLessThanOrEqual((all?.bottom[at - 1] as number) + 1e-4);
      expect(all?.bottom[at]).toBeGreaterThanOrEqual((all?.top[at - 1] as number) - 1e-4);
    }
  });

  test("a gap ends a stretch, and a point between gaps is a dot", () => {
    const { stretches, dots } = covered(range(9).map(Number), [1, 1, Number.NaN, 2, Number.NaN, 3, 3, 3, 3]);
    expect(stretches.map(({ first, top }) => [first, top.length])).toEqual([
      [0, 2],
      [5, 4],
    ]);
    expect(dots).toEqual([[3, 80]]);
  });

  test("what a log axis has no place for is a gap, above and beside", () => {
    const log = pixelScale(bendOf("log"), { min: 1, max: 100 }, 100, 0);
    expect(covered([1, 2, 3, 4, 5], [1, 10, 0, 10, 100], xs, log).stretches).toHaveLength(2);
    const logX = pixelScale(bendOf("log"), { min: 1, max: 100 }, 0, 100);
    const { stretches } = covered([0, 1, 10, 100], [1, 2, 3, 4], logX);
    expect(stretches[0]?.first).toBe(0);
    expect(stretches[0]?.top).toHaveLength(100);
  });

  test("comes from the left and leaves to the right of what is seen", () => {
    const { stretches } = covered([-1000, 1100], [0, 10]);
    expect(stretches[0]?.first).toBe(0);
    expect(stretches[0]?.top).toHaveLength(100);
    expect(stretches[0]?.bottom[0]).toBeCloseTo(100 - (1000 / 2100) * 100, 3);
    expect(covered([-5, -3], [1, 2])).toEqual({ stretches: [], dots: [] });
  });

  test("values without measure stay within what can be drawn", () => {
    const { stretches } = covered([1, 2, 3], [1e300, -1e300, 5]);
    for (const value of [...(stretches[0]?.top ?? []), ...(stretches[0]?.bottom ?? [])])
      expect(Number.isFinite(value)).toBe(true);
  });
});
