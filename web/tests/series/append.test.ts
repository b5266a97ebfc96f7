import { describe, expect, it } from "vitest";
import { LiveCurve, type LivePoints } from "../../src/series/append";
import { type Curve, rawCurve } from "../../src/series/curve";
import { Random } from "../random";

const f = (...values: number[]): Float64Array => Float64Array.from(values);
const points = (
  steps: number[],
  values: LivePoints["values"],
  more: Partial<LivePoints> = {},
): LivePoints => ({
  steps,
  times_ns: steps.map((step) => step * 1e9),
  values,
  ...more,
});

/** Buckets of so many points each, from the definition. */
function bucketed(steps: number[], values: number[], width: number): Curve {
  const groups = Array.from({ length: Math.ceil(steps.length / width) }, (_, i) =>
    steps
      .slice(i * width, (i + 1) * width)
      .map((step, k) => ({ step, value: values[i * width + k] as number })),
  );
  const each = (make: (group: { step: number; value: number }[]) => number): Float64Array =>
    Float64Array.from(groups, make);
  const tally = (is: (value: number) => boolean): Uint32Array =>
    Uint32Array.from(groups, (group) => group.filter((point) => is(point.value)).length);
  const finite = (group: { step: number; value: number }[]) =>
    group.filter((point) => Number.isFinite(point.value));
  const extreme = (sign: number) => (group: { step: number; value: number }[]) =>
    finite(group).reduce<{ step: number; value: number }>(
      (best, point) => (Number.isNaN(best.value) || point.value * sign > best.value * sign ? point : best),
      { step: (group[0] as { step: number }).step, value: Number.NaN },
    );
  const step = each((group) => group[0]?.step ?? 0);
  const stepEnd = each((group) => group[group.length - 1]?.step ?? 0);
  return {
    ...rawCurve(
      { run: "e/p/r", key: "loss" },
      step,
      step,
      each((group) => {
        const own = finite(group);
        return own.length ? own.reduce((sum, point) => sum + point.value, 0) / own.length : Number.NaN;
      }),
    ),
    isRaw: false,
    stepEnd,
    timeEnd: stepEnd,
    min: each((group) => extreme(-1)(group).value),
    max: each((group) => extreme(1)(group).value),
    minStep: each((group) => extreme(-1)(group).step),
    maxStep: each((group) => extreme(1)(group).step),
    first: each((group) => group[0]?.value ?? 0),
    last: each((group) => group[group.length - 1]?.value ?? 0),
    count: tally(() => true),
    nan: tally(Number.isNaN),
    posinf: tally((value) => value === Number.POSITIVE_INFINITY),
    neginf: tally((value) => value === Number.NEGATIVE_INFINITY),
  };
}

describe("points", () => {
  const start = rawCurve({ run: "e/p/r", key: "loss", startedNs: 1e9 }, f(0, 1), f(0, 1), f(5, 4));

  it("come to the end, with NaN in any spelling", () => {
    const live = new LiveCurve(start, "step");
    live.append(points([2, 3], [3, null], { version: 7 }));
    const { curve, isIncomplete } = live.append(points([4, 5, 6], ["NaN", "Infinity", "-inf"]));
    expect(isIncomplete).toBe(false);
    expect(curve.step).toEqual(f(0, 1, 2, 3, 4, 5, 6));
    expect(curve.x).toBe(curve.step);
    expect(curve.max).toBe(curve.mean);
    expect(Array.from(curve.mean)).toEqual([5, 4, 3, NaN, NaN, Infinity, -Infinity]);
    expect(curve.version).toBe(7);
    expect(start.step).toEqual(f(0, 1));
  });

  it("lie on the axis that is shown", () => {
    const relative = rawCurve({ run: "", key: "", startedNs: 1e9 }, f(0), f(0), f(1), f(0));
    const onTime = { ...relative, x: relative.time };
    expect(Array.from(new LiveCurve(onTime, "relative").append(points([5], [1])).curve.x)).toEqual([0, 4]);
    expect(Array.from(new LiveCurve(onTime, "wall").append(points([5], [1])).curve.x)).toEqual([0, 5]);
    const byKey = new LiveCurve(relative, "step").append(points([5], [1]));
    expect(byKey).toEqual({ curve: relative, isIncomplete: true });
  });

  it("take the place of those before, late ones find theirs", () => {
    const live = new LiveCurve(start, "step");
    live.append(points([2, 4], [3, 2]));
    expect(Array.from(live.append(points([3, 4], [2.5, 9])).curve.mean)).toEqual([5, 4, 3, 2.5, 9]);
    const replaced = live.append(points([1, 2], [40, 30], { replaces_from: 1 })).curve;
    expect([Array.from(replaced.step), Array.from(replaced.mean)]).toEqual([
      [0, 1, 2],
      [5, 40, 30],
    ]);
    expect(live.append(points([], [], { replaces_from: -5 })).curve.step.length).toBe(0);
  });

  it("are many, each at constant cost", () => {
    const live = new LiveCurve(start, "step");
    for (let i = 2; i < 100_000; i++) live.append(points([i], [i]));
    const { curve } = live.append(points([100_000], [1]));
    expect(curve.step.length).toBe(100_001);
    expect(curve.step[77_777]).toBe(77_777);
  });
});

describe("buckets", () => {
  it("are what they would be if all points had been there", () => {
    const random = new Random(14);
    for (let round = 0; round < 100; round++) {
      const n = 1 + random.below(60);
      const values = Array.from(random.values(n, 0.3));
      const steps = values.map((_, i) => i * 2);
      const width = 2 + random.below(6);
      // At least one full bucket, so that the width is known.
      const known = Math.min(n, width + random.below(n));
      const live = new LiveCurve(bucketed(steps.slice(0, known), values.slice(0, known), width), "step");
      const { curve, isIncomplete } = live.append(points(steps.slice(known), values.slice(known)));
      expect(isIncomplete).toBe(false);
      const wanted = bucketed(steps, values, width);
      for (const name of [
        "step",
        "stepEnd",
        "min",
        "max",
        "first",
        "last",
        "minStep",
        "maxStep",
        "count",
        "nan",
        "posinf",
        "neginf",
      ] as const) {
        expect(Array.from(curve[name] as Float64Array), name).toEqual(
          Array.from(wanted[name] as Float64Array),
        );
      }
      curve.mean.forEach((value, i) => {
        if (Number.isNaN(wanted.mean[i])) expect(value).toBeNaN();
        else expect(value).toBeCloseTo(wanted.mean[i] as number, 9);
      });
    }
  });

  it("span the times of their points, whatever the clocks did", () => {
    const live = new LiveCurve(bucketed([10, 11, 12, 13, 14], [1, 2, 3, 4, 5], 4), "step");
    const { curve } = live.append({ steps: [15, 16], times_ns: [3e9, 99e9], values: [1, 1] });
    expect([Array.from(curve.time), Array.from(curve.timeEnd)]).toEqual([
      [10, 3],
      [13, 99],
    ]);
  });

  it("are asked for again when something changes within one", () => {
    const start = bucketed([0, 1, 2, 3], [1, 2, 3, 4], 2);
    expect(new LiveCurve(start, "step").append(points([3], [9])).isIncomplete).toBe(true);
    expect(new LiveCurve(start, "step").append(points([3], [9], { replaces_from: 3 })).isIncomplete).toBe(
      true,
    );
    const { curve, isIncomplete } = new LiveCurve(start, "step").append(
      points([2], [9], { replaces_from: 2 }),
    );
    expect(isIncomplete).toBe(false);
    expect(Array.from(curve.max)).toEqual([2, 9]);
    expect(new LiveCurve({ ...start, count: null }, "step").append(points([9], [9])).isIncomplete).toBe(true);
  });
});
