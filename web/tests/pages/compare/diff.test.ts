import { describe, expect, it } from "vitest";
import { shortened } from "../../../src/pages/compare/cell";
import {
  ABSENT,
  cellText,
  diffRows,
  diffTree,
  leavesOf,
  nested,
  pruned,
  valuesOf,
} from "../../../src/pages/compare/diff-tree";
import { factsOf, packagesOf } from "../../../src/pages/compare/environment";
import { lineDiff, type Part, withContext, wordDiff } from "../../../src/pages/compare/text-diff";
import { Random } from "../../random";

const all = { all: true, ignore: null, section: "config" };

describe("the tree of differences", () => {
  const tree = diffTree([
    { lr: 0.1, optimizer: { name: "sgd", wd: 0 }, layers: [1, 2], same: { deep: 1 }, x2: 1, x10: 1 },
    { lr: 0.2, optimizer: { name: "adam", wd: 0 }, layers: [1, 3], same: { deep: 1 }, x2: 1, x10: 1 },
    { optimizer: "none", layers: [1, 2], same: { deep: 1.0 }, x2: 1, x10: 1 },
  ]);
  const node = (path: string) => leavesOf(tree).find((leaf) => leaf.path === path);

  it("orders names as people do", () => {
    expect(tree.map((one) => one.name)).toEqual(["layers", "lr", "optimizer", "same", "x2", "x10"]);
  });
  it("tells what is absent from what is null", () => {
    expect(node("lr")?.cells).toEqual([0.1, 0.2, ABSENT]);
    expect(diffTree([{ a: null }, {}])[0]?.differs).toBe(true);
  });
  it("makes no branch where one run has a value", () => {
    expect(node("optimizer")?.cells?.[2]).toBe("none");
    expect(node("optimizer")?.differs).toBe(true);
  });
  it("holds lists as values, and maps whatever their order", () => {
    expect(node("layers")?.differs).toBe(true);
    expect(diffTree([{ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] }])[0]?.differs).toBe(false);
    expect(diffTree([{ a: "NaN" }, { a: "NaN" }])[0]?.differs).toBe(false);
    expect(diffTree([{ a: true }, { a: 1 }])[0]?.differs).toBe(true);
  });
  it("keeps differences alone, less what is ignored", () => {
    const kept = pruned(tree, { all: false, ignore: /config\.lr$/, section: "config" });
    expect(leavesOf(kept.nodes).map((leaf) => leaf.path)).toEqual(["layers", "optimizer"]);
    expect(kept.ignored).toBe(1);
    expect(leavesOf(pruned(tree, all).nodes)).toHaveLength(6);
  });
  it("shows no closed branch, and a branch of one as one row", () => {
    const rows = diffRows(diffTree([{ a: { b: 1, c: 2 }, d: { e: 1 } }]), new Set(["a"]));
    expect(rows.map((row) => row.node.name)).toEqual(["a", "d.e"]);
  });
  it("counts who has which value", () => {
    const values = valuesOf([1, 2, 1, ABSENT, 1]);
    expect(values.map((one) => [cellText(one.cell), one.runs])).toEqual([
      ["1", [0, 2, 4]],
      ["", [3]],
      ["2", [1]],
    ]);
  });
  it("nests dotted keys, also those that are a value and a branch", () => {
    expect(nested({ "a.b": 1, "a.c": 2, d: 3 })).toEqual({ a: { b: 1, c: 2 }, d: 3 });
    expect(nested({ a: 1, "a.b": 2 })).toEqual({ a: 1, "a.b": 2 });
    expect(nested({ "a.b": 2, a: 1 })).toEqual({ a: 1, "a.b": 2 });
  });
});

describe("the environment", () => {
  it("is sorted by what it is about", () => {
    const facts = factsOf({
      git_commit: "abc",
      git_diff: "+x",
      requirements: ["a==1", "b==2"],
      host: "h",
      "gpu.name": "g",
    });
    expect(facts).toEqual({
      code: { commit: "abc" },
      environment: { host: "h", gpu: { name: "g" } },
      packages: { a: "1", b: "2" },
      gitDiff: "+x",
    });
  });
  it("reads packages in every form", () => {
    expect(packagesOf("torch==2.1\nlocal @ file:///x\nodd")).toEqual({
      torch: "2.1",
      local: "file:///x",
      odd: "",
    });
    expect(packagesOf({ torch: "2.1" })).toEqual({ torch: "2.1" });
    expect(packagesOf(null)).toEqual({});
  });
});

const side = (parts: readonly Part[], not: Part["kind"], between: string) =>
  parts
    .filter((part) => part.kind !== not)
    .map((part) => part.text)
    .join(between);

describe("the difference of texts", () => {
  it("marks words", () => {
    expect(wordDiff("answers in English only", "answers in French only")).toEqual([
      { kind: "same", text: "answers in " },
      { kind: "remove", text: "English" },
      { kind: "add", text: "French" },
      { kind: "same", text: " only" },
    ]);
  });
  it("gives both texts back, whatever they are", () => {
    const random = new Random(5);
    for (let round = 0; round < 300; round++) {
      const make = () => Array.from({ length: random.below(12) }, () => random.pick([..."abc \n"])).join("");
      const [before, after] = [make(), make()];
      const words = wordDiff(before, after);
      expect(side(words, "add", "")).toBe(before);
      expect(side(words, "remove", "")).toBe(after);
      const lines = lineDiff(before, after);
      expect(side(lines, "add", "\n")).toBe(before.replace(/\n$/, ""));
      expect(side(lines, "remove", "\n")).toBe(after.replace(/\n$/, ""));
    }
  });
  it("is short: one line of a thousand is one edit", () => {
    const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}`);
    const changed = lines.with(500, "other");
    const parts = lineDiff(lines.join("\n"), changed.join("\n"));
    expect(parts.filter((part) => part.kind !== "same")).toHaveLength(2);
    expect(withContext(parts)).toHaveLength(2 + 6 + 2);
    expect(withContext(parts)[0]).toEqual({ gap: 497 });
  });
  it("leaves out no single line, and of long texts what is far from any change", () => {
    const at = (line: number) =>
      lineDiff("a\nb\nc\nd\ne", "a\nb\nc\nd\ne".replace("abcde"[line] as string, "X"));
    expect(withContext(at(4), 3)).toHaveLength(6);
    expect(withContext(at(4), 2)).toEqual([{ gap: 2 }, ...at(4).slice(2)]);
    const long = "word ".repeat(100);
    const short = shortened(wordDiff(`${long}one ${long}`, `${long}two ${long}`));
    expect(short.map((part) => part.kind)).toEqual(["same", "remove", "add", "same"]);
    expect(short.reduce((sum, part) => sum + part.text.length, 0)).toBeLessThan(150);
  });
  it("gives up on texts that share nothing, without losing any of them", () => {
    const make = (letter: string) => Array.from({ length: 3000 }, (_, i) => `${letter}${i}`).join("\n");
    const parts = lineDiff(make("a"), make("b"));
    expect(parts).toHaveLength(6000);
  });
});
