import { describe, expect, it } from "vitest";
import { aggregate, groupBy, type Member } from "../../src/series/group";
import { quantile } from "../../src/series/stats";
import { tQuantile95 } from "../../src/series/student";
import { BANDS, CENTERS } from "../../src/view/state";
import { Random } from "../random";

const f = (...values: number[]): Float64Array => Float64Array.from(values);
const member = (x: Float64Array, y: Float64Array): Member => ({ x, y, low: null, high: null });

describe("groups", () => {
  const runs = [
    { lr: 0.1, opt: "adam" },
    { lr: 0.01, opt: "sgd" },
    { lr: 0.1, opt: "adam" },
    { lr: 0.1, opt: "sgd" },
    { opt: "adam" },
    { lr: "0.1", opt: "adam" },
    { lr: NaN, opt: "adam" },
  ];
  const field = (run: object, name: string): unknown => (run as Record<string, unknown>)[name.slice(7)];

  it("are by several fields, in natural order, those without the field last", () => {
    const groups = groupBy(runs, ["config.lr", "config.opt"], field);
    expect(groups.map((group) => [group.label, group.members.length])).toEqual([
      ["lr=0.01, opt=sgd", 1],
      ["lr=0.1, opt=adam", 2],
      ["lr=0.1, opt=sgd", 1],
      ["lr=NaN, opt=adam", 1],
      ["lr=0.1, opt=adam", 1],
      ["lr=none, opt=adam", 1],
    ]);
  });

  it("have ids that other groups do not change, and tell 0.1 from its text", () => {
    const all = groupBy(runs, ["config.lr"], field);
    const few = groupBy(runs.slice(1, 3), ["config.lr"], field);
    expect(all.map((group) => group.id)).toEqual(expect.arrayContaining(few.map((group) => group.id)));
    expect(new Set(all.map((group) => group.id)).size).toBe(5);
  });

  it("are one without fields", () => {
    expect(groupBy(runs, [], field)).toMatchObject([{ label: "", members: runs }]);
    expect(groupBy([], ["config.lr"], field)).toEqual([]);
  });
});

function near(got: number | undefined, wanted: number): void {
  if (Number.isNaN(wanted)) expect(got).toBeNaN();
  else expect(got).toBeCloseTo(wanted, 9);
}

/** At each x of the union: the values of the members there, from the definition. */
function naive(members: Member[], x: number): number[] {
  return members.flatMap((own) => {
    const last = own.x[own.x.length - 1] as number;
    if (own.x.length === 0 || x < (own.x[0] as number) || x > last) return [];
    let value = NaN;
    own.x.forEach((at, i) => {
      if (at <= x) value = own.y[i] as number;
    });
    return Number.isFinite(value) ? [value] : [];
  });
}

describe("aggregate", () => {
  it.each(CENTERS.flatMap((center) => BANDS.map((band) => ({ center, band }))))(
    "$center with $band is the definition, for members of different x",
    (how) => {
      const random = new Random(12);
      for (let round = 0; round < 20; round++) {
        const members = random.list(6, () => {
          const x = Float64Array.from(new Set(random.list(15, () => random.below(30)))).sort();
          return member(x, random.values(x.length, 0.1));
        });
        const got = aggregate(members, how);
        for (let i = 0; i < got.x.length; i++) {
          const values = naive(members, got.x[i] as number);
          const n = values.length;
          expect(got.n[i]).toBe(n);
          const mean = values.reduce((a, b) => a + b, 0) / n;
          const middle = how.center === "mean" ? mean : quantile(values, 0.5);
          near(got.y[i], middle);
          const std = n > 1 ? Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1)) : NaN;
          const spread = { std, sem: std / Math.sqrt(n), ci: (std / Math.sqrt(n)) * tQuantile95(n - 1) };
          let [low, high] = [NaN, NaN];
          if (how.band === "none") {
            expect(got.low).toBeNull();
            continue;
          }
          if (how.band === "minmax")
            [low, high] = n ? [Math.min(...values), Math.max(...values)] : [NaN, NaN];
          else if (how.band === "percentile") [low, high] = [quantile(values, 0.1), quantile(values, 0.9)];
          else [low, high] = [middle - spread[how.band], middle + spread[how.band]];
          near(got.low?.[i], low);
          near(got.high?.[i], high);
        }
      }
    },
  );

  it("does not reach beyond a member's range", () => {
    const got = aggregate([member(f(0, 1, 2), f(1, 1, 1)), member(f(1, 3), f(5, 5))], {
      center: "mean",
      band: "minmax",
    });
    expect(got.x).toEqual(f(0, 1, 2, 3));
    expect(got.y).toEqual(f(1, 3, 3, 5));
    expect(Array.from(got.n)).toEqual([1, 2, 2, 1]);
  });

  it("leaves constants exactly alone, and has no deviation of one member", () => {
    const x = f(0, 1, 2);
    const got = aggregate(
      Array.from({ length: 7 }, () => member(x, f(0.1, 0.1, 0.1))),
      { center: "mean", band: "ci" },
    );
    expect(got.y).toEqual(f(0.1, 0.1, 0.1));
    expect(got.low).toEqual(got.y);
    const one = aggregate([member(x, x)], { center: "mean", band: "std" });
    expect(one.y).toEqual(x);
    expect(Array.from(one.low as Float64Array)).toEqual([NaN, NaN, NaN]);
  });

  it("takes the envelope of bucketed members for min and max", () => {
    const got = aggregate([{ x: f(0), y: f(2), low: f(-9), high: f(4) }], { center: "mean", band: "minmax" });
    expect([got.low?.[0], got.high?.[0]]).toEqual([-9, 4]);
  });

  it("on a longer union than wanted hides no extreme, and counts each member", () => {
    const random = new Random(13);
    const members = Array.from({ length: 5 }, () => member(random.ascending(500), random.values(500, 0)));
    (members[2] as Member).y[250] = 1e6;
    const got = aggregate(members, { center: "mean", band: "minmax" }, { most: 100 });
    expect(got.x.length).toBeLessThanOrEqual(100);
    expect(Math.max(...(got.high as Float64Array))).toBe(1e6);
    expect(Math.max(...got.n)).toBe(5);
  });

  it("is empty of nothing", () => {
    expect(aggregate([], { center: "mean", band: "std" }).x.length).toBe(0);
    expect(aggregate([member(f(), f())], { center: "median", band: "none" }).x.length).toBe(0);
    const gaps = aggregate([member(f(1), f(NaN))], { center: "mean", band: "std" });
    expect([gaps.y[0], gaps.n[0]]).toEqual([NaN, 0]);
  });
});

it("t goes from the table into the expansion without a step, down to the normal", () => {
  expect(tQuantile95(0)).toBeNaN();
  expect(tQuantile95(1)).toBeCloseTo(12.7062, 4);
  expect(tQuantile95(31)).toBeCloseTo(2.039513, 5);
  expect(tQuantile95(100)).toBeCloseTo(1.983972, 5);
  expect(tQuantile95(1e9)).toBeCloseTo(1.959964, 6);
});
