import { describe, expect, it } from "vitest";
import { labelsOf } from "../../../src/pages/compare/comparison";
import { deltaOf, deltaText, figureOf, saidGoals, turnGoal } from "../../../src/pages/compare/figure";
import {
  cellOf,
  type Figures,
  measuredRun,
  measureOf,
  titleOf,
  varyingKeys,
} from "../../../src/pages/compare/measure";
import {
  gridText,
  metricRow,
  nextOrder,
  sortMetrics,
  sortRuns,
} from "../../../src/pages/compare/metric-grid";
import { colouringOf, NO_COLOUR, rampColour } from "../../../src/pages/compare/ramp";
import { tableText } from "../../../src/pages/compare/table-text";
import { contrast } from "../../../src/series/palette";
import type { Digest, RunItem } from "../../../src/server/types";

function digest(some: Partial<Digest>): Digest {
  return {
    count: 10,
    min: 1,
    max: 3,
    min_step: 7,
    max_step: 2,
    mean: 2,
    first: 3,
    last: 1.5,
    first_step: 0,
    last_step: 9,
    nan: 0,
    posinf: 0,
    neginf: 0,
    ...some,
  };
}

function run(id: string, config: Record<string, unknown> = {}, name = id): RunItem {
  return {
    id,
    name,
    entity: "e",
    project: "p",
    config,
    runtime_s: 5,
    num_rows: 1,
    state: "finished",
  } as unknown as RunItem;
}

describe("a figure", () => {
  it("has the step where it was", () => {
    expect(figureOf(digest({}), "min", null)).toEqual({ value: 1, step: 7 });
    expect(figureOf(digest({}), "last", null)).toEqual({ value: 1.5, step: 9 });
    expect(figureOf(digest({}), "mean", null)).toEqual({ value: 2, step: null });
  });
  it("is the best by the goal, and the last where nobody knows", () => {
    expect(figureOf(digest({}), "best", "min")?.value).toBe(1);
    expect(figureOf(digest({}), "best", "max")?.value).toBe(3);
    expect(figureOf(digest({}), "best", null)?.value).toBe(1.5);
  });
  it("is none where nothing finite was logged, but NaN where that was last", () => {
    const odd = digest({ min: null, max: null, min_step: null, last: "NaN" });
    expect(figureOf(odd, "min", null)).toBeNull();
    expect(figureOf(odd, "last", null)?.value).toBeNaN();
    expect(figureOf(undefined, "last", null)).toBeNull();
  });
});

describe("a change", () => {
  it("knows what is better", () => {
    expect(deltaOf(0.9, 1, "min")?.verdict).toBe("better");
    expect(deltaOf(0.9, 1, "max")?.verdict).toBe("worse");
    expect(deltaOf(0.9, 1, null)?.verdict).toBe("unknown");
    expect(deltaOf(1, 1, "min")?.verdict).toBe("same");
  });
  it("is told in numbers and percent of the baseline's size", () => {
    expect(deltaText(deltaOf(1.1, 1, "min") as never)).toBe("+0.1 (+10 %)");
    expect(deltaText(deltaOf(-3, -2, "min") as never)).toBe("-1 (-50 %)");
    expect(deltaText(deltaOf(3, 0, "min") as never)).toBe("+3");
    expect(deltaOf(Number.NaN, 1, "min")).toBeNull();
  });
  it("follows what a person said is better", () => {
    const goals = turnGoal(turnGoal([], "a:b", null), "a:b", "min");
    expect(goals).toEqual(["a:b:max"]);
    expect(saidGoals([...goals, "x:none", "broken"])).toEqual(
      new Map([
        ["a:b", "max"],
        ["x", null],
      ]),
    );
  });
});

describe("the table of metrics", () => {
  const [a, b, c] = [run("a"), run("b"), run("c")];
  const values: Record<string, Record<string, number>> = {
    a: { loss: 1, acc: 0.5 },
    b: { loss: 0.5, acc: 0.9 },
    c: { acc: 0.1 },
  };
  const figures: Figures = {
    digest: ({ id }, key) => {
      const value = values[id]?.[key];
      return value === undefined ? undefined : digest({ min: value, max: value, last: value });
    },
    goal: (key) => (key === "loss" ? "min" : "max"),
  };
  const runs = [a, b, c];
  const rows = ["loss", "acc"].map((key) => metricRow(key, runs, a, "best", figures));

  it("marks the best, and nothing where all are equal", () => {
    expect(rows.map((row) => row.cells.map((cell) => cell.isBest))).toEqual([
      [false, true, false],
      [false, true, false],
    ]);
    expect(metricRow("loss", [a, a], a, "best", figures).cells.some((cell) => cell.isBest)).toBe(false);
  });
  it("sorts by change, and runs by value, with what is missing last", () => {
    expect(sortMetrics(rows, "b", runs).map((row) => row.key)).toEqual(["loss", "acc"]);
    expect(sortMetrics(rows, "-b", runs).map((row) => row.key)).toEqual(["acc", "loss"]);
    expect(sortMetrics(rows, "key", runs).map((row) => row.key)).toEqual(["acc", "loss"]);
    expect(sortRuns(runs, rows, "loss", (one) => one.name)).toEqual([1, 0, 2]);
    expect(sortRuns(runs, rows, "-loss", (one) => one.name)).toEqual([0, 1, 2]);
    expect(sortRuns(runs, rows, "-run", (one) => one.name)).toEqual([2, 1, 0]);
    expect([nextOrder("", "x"), nextOrder("x", "x"), nextOrder("-x", "x")]).toEqual(["x", "-x", ""]);
  });
  it("is written either way round", () => {
    const what = {
      rows,
      runs,
      places: [0, 1, 2],
      label: (one: RunItem) => one.name,
      figure: "best" as const,
    };
    expect(gridText({ ...what, isTurned: false }).rows[0]).toEqual(["loss", "1", "0.5 (-0.5 (-50 %))", ""]);
    expect(gridText({ ...what, isTurned: true }).head).toEqual(["run", "loss", "acc"]);
  });
});

describe("tables as text", () => {
  const table = {
    title: "50 % & more_",
    head: ["k", "a|b"],
    rows: [
      ["=1+1", 'x,"y"\nz'],
      ["-1.5", "<b>"],
    ],
    isNumeric: true,
  };
  it("CSV quotes, and takes formulas apart but not numbers", () => {
    expect(tableText(table, "csv")).toBe('k,a|b\r\n\'=1+1,"x,""y""\nz"\r\n-1.5,<b>\r\n');
  });
  it("Markdown keeps its columns", () => {
    expect(tableText(table, "md").split("\n")).toEqual([
      "| k | a\\|b |",
      "|---|---:|",
      '| =1+1 | x,"y"<br>z |',
      "| -1.5 | \\<b\\> |",
      "",
    ]);
  });
  it("LaTeX has no letter that it would read as a command", () => {
    const text = tableText(table, "tex");
    expect(text).toContain("\\caption{50 \\% \\& more\\_}");
    expect(text).toContain("\\begin{tabular}{lr}");
    expect(text).toContain("$-$1.5 & \\textless{}b\\textgreater{} \\\\");
    expect(text).toContain("a\\textbar{}b");
  });
});

describe("measures", () => {
  const runs = [
    run("a", { lr: 0.1, opt: { name: "sgd" }, same: 1, nan: "NaN" }),
    run("b", { lr: 0.2, opt: { name: "adam" }, same: 1, list: [1] }),
  ].map(measuredRun);
  const figures: Figures = { digest: () => digest({}), goal: () => "min" };
  const value = (text: string) => runs.map((one) => cellOf(measureOf(text) as never, one, figures, 0));

  it("read config, metrics and facts", () => {
    expect(value("config.opt.name")).toEqual(["sgd", "adam"]);
    expect(value("config.list")).toEqual([null, "[1]"]);
    expect(value("config.nan")[0]).toBeNaN();
    expect(value("max(train/loss)")).toEqual([3, 3]);
    expect(value("best(f(x))")).toEqual([1, 1]);
    expect(value("runtime")).toEqual([5, 5]);
    expect(measureOf("nothing")).toBeNull();
    expect(titleOf("best(train/loss)")).toBe("train/loss (best)");
  });
  it("vary where runs differ, or some have none", () => {
    expect(varyingKeys(runs).map((one) => [one.key, one.isNumeric])).toEqual([
      ["lr", true],
      ["opt.name", false],
      ["nan", true],
      ["list", false],
    ]);
  });
  it("are told apart by name", () => {
    expect([...labelsOf([run("a", {}, "x"), run("b", {}, "x"), run("c", {}, "y")]).values()]).toEqual([
      "x (a)",
      "x (b)",
      "y",
    ]);
  });
});

describe("colours of values", () => {
  it("run along a ramp that is seen on both backgrounds", () => {
    for (let share = 0; share <= 1; share += 0.05) {
      for (const page of ["#ffffff", "#15171b"])
        expect(contrast(rampColour(share), page)).toBeGreaterThan(2.6);
    }
    const { colour, ends } = colouringOf([1, 2, null, Number.NaN, 3]);
    expect([colour(0), colour(2), colour(3), ends]).toEqual([rampColour(0), NO_COLOUR, NO_COLOUR, [1, 3]]);
  });
  it("are one for each text", () => {
    const { colour, texts } = colouringOf(["b", "a", "b", null]);
    expect(colour(0)).toBe(colour(2));
    expect(colour(0)).not.toBe(colour(1));
    expect(texts.map((one) => one.text)).toEqual(["a", "b"]);
  });
});
