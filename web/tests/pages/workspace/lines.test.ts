import { describe, expect, it } from "vitest";
import { differenceOf } from "../../../src/pages/workspace/data/difference";
import { type DrawnStyle, type LinesOf, linesOf, ownerOf } from "../../../src/pages/workspace/data/lines";
import { rangeOf } from "../../../src/pages/workspace/data/range";
import { type Curve, lineOf, rawCurve } from "../../../src/series/curve";
import { parseExpression } from "../../../src/series/expression";
import { type ChartOptions, DEFAULT_VIEW, panelOptions } from "../../../src/view/state";

const f = (...values: number[]) => Float64Array.from(values);

function curve(run: string, key: string, y: number[], step = y.map((_, i) => i)): Curve {
  return rawCurve({ run: `ann/p/${run}`, key }, f(...step), f(...step), f(...y));
}

function style(id: string): [string, DrawnStyle] {
  return [`ann/p/${id}`, { id, label: `run ${id}`, colour: `#${id}`, dash: [] }];
}

function what(more: Partial<LinesOf> = {}, options: Partial<ChartOptions> = {}): LinesOf {
  return {
    runs: new Map([style("a"), style("b")]),
    groups: null,
    keys: ["loss"],
    right: new Set(),
    titleOf: (key) => key,
    expression: null,
    options: { ...panelOptions(DEFAULT_VIEW.charts, ""), ...options },
    baseline: null,
    ...more,
  };
}

describe("lines of a panel", () => {
  it("are one for each run that is drawn, with NaN as marks and gaps", () => {
    const lines = linesOf([curve("a", "loss", [1, Number.NaN, 3]), curve("gone", "loss", [1])], what());
    expect(lines.map((line) => line.id)).toEqual(["a"]);
    expect(lines[0]?.y[1]).toBeNaN();
    expect(lines[0]?.marks).toEqual([{ x: 1, kind: "nan", count: 1 }]);
  });

  it("keep what was logged behind the smoothed line", () => {
    const lines = linesOf(
      [curve("a", "loss", [0, 10, 0, 10])],
      what({}, { smoothing: { kind: "ema", amount: 0.9 } }),
    );
    expect(lines.map((line) => [ownerOf(line.id), line.faint])).toEqual([
      ["a", true],
      ["a", false],
    ]);
    expect(Array.from(lines[0]?.y ?? [])).toEqual([0, 10, 0, 10]);
    expect(lines[1]?.y[3]).toBeLessThan(8);
  });

  it("that the right axis measures come last, thinner, and keep a sampler's lines apart", () => {
    const sampled = (lane: string) => ({ ...curve("a", "system:cpu", [5]), lane });
    const lines = linesOf(
      [curve("a", "loss", [1]), curve("a", "acc", [2]), sampled("w1"), sampled("w2")],
      what({
        keys: ["loss", "acc", "system:cpu"],
        right: new Set(["acc", "system:cpu"]),
        titleOf: (key) => key.toUpperCase(),
      }),
    );
    expect(lines.map((line) => [line.label, line.isRight ?? false])).toEqual([
      ["run a · LOSS", false],
      ["run a · ACC", true],
      ["run a · SYSTEM:CPU", true],
      ["run a · SYSTEM:CPU", true],
    ]);
    expect(new Set(lines.map((line) => line.id)).size).toBe(4);
    expect(lines.every((line) => ownerOf(line.id) === "a")).toBe(true);
  });

  it("of an expression have the right axis beside them, not what they are computed from", () => {
    const lines = linesOf(
      [curve("a", "loss", [3]), curve("a", "val", [1]), curve("a", "acc", [9])],
      what({ expression: parseExpression("loss - val"), keys: ["", "acc"], right: new Set(["acc"]) }),
    );
    expect(lines.map((line) => [line.label, line.y[0]])).toEqual([
      ["run a", 2],
      ["run a · acc", 9],
    ]);
  });

  it("are smoothed alike when they are zoomed", () => {
    const whole = curve(
      "a",
      "loss",
      Array.from({ length: 100 }, (_, i) => i % 7),
    );
    const part = curve("a", "loss", [1, 2, 3], [40, 41, 42]);
    const options = what({}, { smoothing: { kind: "window", amount: 0.5 } });
    const [, zoomed] = linesOf([part], options, [whole]);
    const [, far] = linesOf([curve("a", "loss", [1, 2, 3], [40, 41, 42])], options, [
      curve("a", "loss", [0, 1], [0, 9900]),
    ]);
    expect(Array.from(zoomed?.y ?? [])).toEqual([1.5, 2, 2.5]);
    expect(Array.from(far?.y ?? [])).toEqual([2, 2, 2]);
  });

  it("become one for each group, of its members alone", () => {
    const groups = [
      { style: { id: "group:k", label: "adam", colour: "#k", dash: [] }, runs: ["ann/p/a", "ann/p/b"] },
    ];
    const lines = linesOf([curve("a", "loss", [1, 1]), curve("b", "loss", [3, 5])], what({ groups }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ id: "group:k", members: 2, label: "adam" });
    expect(Array.from(lines[0]?.y ?? [])).toEqual([2, 3]);
    const band = { center: "mean", band: "minmax", members: true } as const;
    const shown = linesOf(
      [curve("a", "loss", [1, 1]), curve("b", "loss", [3, 5])],
      what({ groups }, { aggregate: band }),
    );
    expect(shown.map((line) => [line.faint, ownerOf(line.id)])).toEqual([
      [true, "group:k"],
      [true, "group:k"],
      [false, "group:k"],
    ]);
  });

  it("are what an expression comes to in each run", () => {
    const expression = parseExpression("loss - val");
    const lines = linesOf(
      [curve("a", "loss", [5, 4]), curve("a", "val", [1, 1]), curve("b", "loss", [1, 1])],
      what({ expression, keys: [""] }),
    );
    expect(lines.map((line) => [line.id, Array.from(line.y)])).toEqual([["a", [4, 3]]]);
  });

  it("tell several metrics apart by dash, or by colour where there is one run", () => {
    const keys = ["loss", "val"];
    const curves = [curve("a", "loss", [1]), curve("a", "val", [1])];
    const many = linesOf(curves, what({ keys }));
    expect(many.map((line) => [ownerOf(line.id), line.colour])).toEqual([
      ["a", "#a"],
      ["a", "#a"],
    ]);
    expect(many[0]?.dash).not.toEqual(many[1]?.dash);
    const lone = linesOf(curves, what({ keys, runs: new Map([style("a")]) }));
    expect(lone[0]?.colour).not.toBe(lone[1]?.colour);
  });

  it("show the difference to the baseline, where both are", () => {
    const curves = [curve("a", "loss", [5, 4, 3]), curve("b", "loss", [1, 1], [1, 2])];
    const lines = linesOf(curves, what({ baseline: "ann/p/b" }, { difference: true }));
    const a = lines.find((line) => line.id === "a");
    expect([Array.from(a?.x ?? []), Array.from(a?.y ?? [])]).toEqual([
      [1, 2],
      [3, 2],
    ]);
    expect(linesOf(curves, what({ baseline: "ann/p/none" }, { difference: true }))).toEqual([]);
  });

  it("show the difference to a group as it is drawn, whose own line is zero", () => {
    const group = (id: string, ...runs: string[]) => ({
      style: { id: `group:${id}`, label: id, colour: "", dash: [] },
      runs: runs.map((run) => `ann/p/${run}`),
    });
    const curves = [
      curve("a", "loss", [1, 1, 4]),
      curve("b", "loss", [3, 7], [0, 2]),
      curve("c", "loss", [2, 2, 19]),
      curve("d", "loss", [9, 9, 9]),
    ];
    const all = {
      runs: new Map(["a", "b", "c", "d"].map(style)),
      groups: [group("k", "a", "b", "c"), group("l", "d")],
    };
    const drawn = (center: "mean" | "median", members = false) =>
      linesOf(
        curves,
        what(
          { ...all, baseline: "group:k" },
          { difference: true, aggregate: { center, band: "minmax", members } },
        ),
      );
    const median = drawn("median");
    expect(median.map((line) => [line.id, Array.from(line.y)])).toEqual([
      ["group:k", [0, 0, 0]],
      ["group:l", [7, 7, 2]],
    ]);
    // the band goes along
    expect(Array.from(median[0]?.high ?? [])).toEqual([1, 1, 12]);
    expect(Array.from(drawn("mean")[1]?.y ?? [])).toEqual([7, 7, -1]);
    const members = drawn("median", true).filter((line) => line.faint);
    expect(members.map((line) => Array.from(line.y))).toEqual([
      [-1, -1, -3],
      [1, 0],
      [0, 0, 12],
      [7, 7, 2],
    ]);
    const elsewhere = what({ ...all, baseline: "group:gone" }, { difference: true });
    expect(linesOf(curves, elsewhere)).toEqual([]);
  });
});

describe("difference", () => {
  it("takes the baseline's last value at each point", () => {
    const dress = { id: "", label: "", colour: "", dash: [], width: 1, faint: false };
    const line = lineOf(curve("a", "k", [10, 10, 10, 10], [0, 5, 10, 15]), dress);
    const base = lineOf(curve("b", "k", [1, 2], [4, 10]), dress);
    expect(Array.from(differenceOf(line, base).y)).toEqual([9, 8]);
  });
});

describe("the range to ask for", () => {
  it("is somewhat wider than what is seen, in the server's units", () => {
    expect(rangeOf("step", { first: 100, last: 200 }, [])).toEqual({ first: 75, last: 225 });
    expect(rangeOf("relative", { first: 1, last: 2 }, [])).toEqual({ first: 0.75e9, last: 2.25e9 });
  });

  it("is told by the points where another metric lies along x", () => {
    const tokens = { ...curve("a", "loss", [1, 1, 1, 1, 1]), x: f(0, 100, 200, 300, 400) };
    expect(rangeOf("tokens", { first: 190, last: 210 }, [tokens])).toEqual({ first: 1, last: 3 });
    expect(rangeOf("tokens", { first: 1e6, last: 2e6 }, [tokens])).toBeNull();
  });
});
