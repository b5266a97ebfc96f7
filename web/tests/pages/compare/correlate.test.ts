import { describe, expect, it } from "vitest";
import { associate, pearson, ranks, spearman, strength } from "../../../src/pages/compare/correlate";
import { growForest } from "../../../src/pages/compare/forest";
import { Random } from "../../random";

describe("Spearman", () => {
  it("is about order alone", () => {
    expect(ranks([10, 30, 20, 20])).toEqual([1, 4, 2.5, 2.5]);
    expect(spearman([1, 2, 3, 4], [1, 8, 27, 64])).toBeCloseTo(1, 12);
    expect(spearman([1, 2, 3, 4], [4, 3, 2, 1])).toBeCloseTo(-1, 12);
    expect(spearman([1, 1, 1], [1, 2, 3])).toBe(0);
    expect(pearson([1, 2, 3], [1, 2, 4])).toBeCloseTo(0.98198, 5);
  });
  it("gives equal values their mean rank", () => {
    // by hand: ranks 1, 2.5, 2.5, 4, 5, 6 and 2, 1, 4, 3, 5.5, 5.5; products sum to 13.5, squares to 17 each
    expect(spearman([1, 2, 2, 3, 5, 6], [2, 1, 4, 3, 6, 6])).toBeCloseTo(13.5 / 17, 12);
  });
});

describe("what goes with a metric", () => {
  const random = new Random(3);
  const n = 60;
  const lr = Array.from({ length: n }, () => random.next());
  const seed = Array.from({ length: n }, (_, i) => i);
  const opt = Array.from({ length: n }, () => random.pick(["sgd", "adam", "lion"]));
  const metric = lr.map((x, i) => (x - 0.5) ** 2 * 10 + (opt[i] === "sgd" ? 1 : 0) + 0.05 * random.next());

  it("is found where it is not straight, and in texts", () => {
    const found = associate("lr", lr, metric);
    expect(Math.abs(found?.rho ?? 1)).toBeLessThan(0.4);
    expect(found?.explained).toBeGreaterThan(0.2);
    expect(found?.isClear).toBe(true);
    const text = associate("opt", opt, metric);
    expect(text?.rho).toBeNull();
    expect(text?.isClear).toBe(true);
    const noise = associate("seed", seed, metric);
    expect(noise?.explained).toBeLessThan(0.2);
    expect(strength(found as never)).toBeGreaterThan(strength(noise as never));
  });
  it("is seldom called clear where there is nothing", () => {
    let clear = 0;
    for (let round = 0; round < 300; round++) {
      const y = Array.from({ length: 40 }, () => random.next());
      const x = Array.from({ length: 40 }, () => random.pick(["a", "b", "c"]));
      if (associate("x", x, y)?.isClear) clear += 1;
    }
    expect(clear / 300).toBeLessThan(0.1);
  });
  it("is not told of names, constants, or two runs", () => {
    expect(associate("id", seed.map(String), metric)).toBeNull();
    expect(associate("same", new Array(n).fill(1), metric)).toBeNull();
    expect(associate("lr", [1, 2], [1, 2])).toBeNull();
    expect(associate("lr", [1, null, 2, 3], [1, 2, Number.NaN, 4])).toBeNull();
  });
  it("leaves out runs that lack one of them, and says so", () => {
    expect(associate("lr", [1, null, 2, 3, 4], [1, 9, 2, 3, Number.NaN])?.n).toBe(3);
  });
  it("costs a forest most where it matters, and is the same every time", () => {
    const columns = [
      { name: "lr", values: Float64Array.from(lr) },
      { name: "seed", values: Float64Array.from(seed) },
    ];
    const last = (): Float64Array => {
      let shares = new Float64Array();
      for (const some of growForest(columns, Float64Array.from(metric)))
        shares = some as Float64Array<ArrayBuffer>;
      return shares;
    };
    const [first, second] = last();
    expect(first).toBeGreaterThan(5 * (second as number));
    expect([...last()]).toEqual([first, second]);
  });
  it("is nothing where the metric does not vary", () => {
    const columns = [{ name: "lr", values: Float64Array.from(lr) }];
    const forest = growForest(columns, new Float64Array(n).fill(2));
    expect([...(forest.next().value as Float64Array)]).toEqual([0]);
  });
});
