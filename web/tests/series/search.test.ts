import { describe, expect, it } from "vitest";
import { naturalCompare } from "../../src/series/natural";
import { NameIndex, patternOf, sectionsOf } from "../../src/series/search";

describe("words", () => {
  const index = new NameIndex([
    "train/loss",
    "val/loss",
    "train/loss_aux",
    "closs",
    "train/acc",
    "lr",
    "System/GPU 0",
  ]);

  it("finds the whole part first, then beginnings, then anywhere", () => {
    expect(index.search("loss").names).toEqual(["val/loss", "train/loss", "train/loss_aux", "closs"]);
  });

  it("takes words in any order, letters apart, any case", () => {
    expect(index.search("loss train").names).toEqual(["train/loss", "train/loss_aux"]);
    expect(index.search("trlo").names).toEqual(["train/loss", "train/loss_aux"]);
    expect(index.search("gpu").names).toEqual(["System/GPU 0"]);
    expect(index.search("zzz")).toEqual({ names: [], total: 0, error: null });
  });

  it("never cuts in silence", () => {
    expect(index.search("loss", 2)).toMatchObject({ names: ["val/loss", "train/loss"], total: 4 });
    expect(index.search("  ", 2)).toMatchObject({ names: ["train/loss", "val/loss"], total: 7 });
  });
});

describe("patterns", () => {
  const index = new NameIndex(["a/1", "A/2", "b/1"]);

  it("are between slashes, the last may be missing while typing", () => {
    expect(index.search("/^a/").names).toEqual(["a/1"]);
    expect(index.search("/^a/i").names).toEqual(["a/1", "A/2"]);
    expect(index.search("/1$").names).toEqual(["a/1", "b/1"]);
    expect(index.search("/./", 1)).toMatchObject({ total: 3, names: ["a/1"] });
    expect(patternOf("/")).toBeNull();
  });

  it("that are broken say so", () => {
    expect(index.search("/(/").error).toMatch(/^not a regular expression: /);
    expect(index.search("/(/").names).toEqual([]);
  });
});

it("searches 100,000 names as one types", () => {
  const names = Array.from(
    { length: 100_000 },
    (_, i) => `model/layer${i % 97}/block${i % 1013}/weight_norm_${i}`,
  );
  const index = new NameIndex(names);
  for (const query of ["norm", "lay9 blk7", "wn99", "/block1\\d+/", "norm_99999"]) {
    index.search(query, 200);
    const start = performance.now();
    const { total } = index.search(query, 200);
    const took = performance.now() - start;
    console.log(`search of 100,000 names for ${query}: ${took.toFixed(0)} ms, ${total} found`);
    expect(took).toBeLessThan(1000);
  }
});

describe("sections", () => {
  const shape = (names: readonly string[]) => sectionsOf(names).map(({ prefix, names }) => [prefix, names]);

  it("are by prefix, in natural order, the bare names first", () => {
    expect(shape(["val/loss", "layer10/w", "lr", "layer2/w10", "layer2/w9", "epoch"])).toEqual([
      ["", ["epoch", "lr"]],
      ["layer2", ["layer2/w9", "layer2/w10"]],
      ["layer10", ["layer10/w"]],
      ["val", ["val/loss"]],
    ]);
    expect(shape(["/x", "constructor/y"]).map(([prefix]) => prefix)).toEqual(["", "constructor"]);
    expect(shape([])).toEqual([]);
  });

  it("are made once for the same names, which stay as they are", () => {
    const names = ["b/2", "b/1"];
    expect(sectionsOf(names)[0]?.names).toEqual(["b/1", "b/2"]);
    expect(sectionsOf(names)).toBe(sectionsOf(names));
    expect(names).toEqual(["b/2", "b/1"]);
  });
});

it("natural order is an order", () => {
  const names = [
    "a",
    "A",
    "a1",
    "a01",
    "a2",
    "a10",
    "a1b",
    "",
    "B",
    "1",
    "02",
    "a1.5",
    "a99999999999999999999",
    "é",
  ];
  for (const p of names) {
    expect(naturalCompare(p, p)).toBe(0);
    for (const q of names) {
      expect(Math.sign(naturalCompare(p, q))).toBe(-Math.sign(naturalCompare(q, p)) + 0);
      if (p !== q) expect(naturalCompare(p, q)).not.toBe(0);
      for (const r of names) {
        if (naturalCompare(p, q) < 0 && naturalCompare(q, r) < 0)
          expect(naturalCompare(p, r)).toBeLessThan(0);
      }
    }
  }
  expect(["a10", "a9", "B", "a"].sort(naturalCompare)).toEqual(["a", "a9", "a10", "B"]);
});
