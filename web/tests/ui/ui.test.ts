import { describe, expect, it } from "vitest";
import { sparkBars, sparkLine } from "../../src/ui/sparkline";
import { branchesOf, matching, rowsOf } from "../../src/ui/tree-rows";

describe("a tree of a config", () => {
  const branches = branchesOf({
    lr: 0.1,
    optimizer: { name: "adamw", betas: [0.9, 0.99] },
    empty: {},
    layer_10: 1,
    layer_9: 2,
  });

  it("is sorted as people count, with lists as leaves", () => {
    const rows = rowsOf(branches, new Set());
    expect(rows.map((row) => row.branch.path)).toEqual([
      "empty",
      "layer_9",
      "layer_10",
      "lr",
      "optimizer",
      "optimizer.betas",
      "optimizer.name",
    ]);
    expect(rows.find((row) => row.branch.path === "optimizer.betas")?.branch.text).toBe("[0.9,0.99]");
    expect(rows.find((row) => row.branch.path === "empty")?.branch.children).toBeNull();
  });

  it("closes branches", () => {
    expect(rowsOf(branches, new Set(["optimizer"])).map((row) => row.branch.path)).not.toContain(
      "optimizer.name",
    );
  });

  it("finds keys and values, with what lies above them", () => {
    const paths = (text: string) => rowsOf(matching(branches, text), new Set()).map((row) => row.branch.path);
    expect(paths("ADAM")).toEqual(["optimizer", "optimizer.name"]);
    expect(paths("optimizer")).toEqual(["optimizer", "optimizer.betas", "optimizer.name"]);
    expect(paths("nothing like it")).toEqual([]);
  });
});

describe("a sparkline", () => {
  it("goes from the lowest at the bottom to the highest at the top, with gaps", () => {
    expect(sparkLine([0, 1], 10, 13)).toBe("M1.0 11.5h0L9.0 1.5");
    expect(sparkLine([0, Number.NaN, 1], 10, 13).match(/M/g)).toHaveLength(2);
    expect(sparkLine([Number.NaN], 10, 13)).toBe("");
    expect(sparkLine([3, 3], 10, 12)).toBe("M1.0 6.0h0L9.0 6.0");
  });

  it("has a bar for each value, also for none", () => {
    expect(sparkBars([0, 2, 4], 30, 10).match(/M/g)).toHaveLength(3);
    expect(sparkBars([0, 2, 4], 30, 10)).toContain("v-10.0");
  });
});
