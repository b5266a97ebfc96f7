import { describe, expect, it } from "vitest";
import { choiceOf, lanesIn, whoOf } from "../../../src/pages/run/console/lanes";
import { nextMatch } from "../../../src/pages/run/console/matches";
import { lineAtScroll, scrollForLine, tallOf } from "../../../src/pages/run/console/scroller";
import type { ConsoleLane } from "../../../src/pages/run/documents";

describe("scroller", () => {
  for (const total of [10, 1000, 1_000_000, 50_000_000]) {
    const extent = { total, rowHeight: 19, view: 600 };
    it(`leads from a place to its line and back, ${total} lines`, () => {
      const room = Math.max(0, tallOf(extent) - extent.view);
      for (const share of [0, 0.25, 0.5, 1]) {
        const line = lineAtScroll(extent, share * room);
        expect(scrollForLine(extent, line)).toBeCloseTo(share * room, 3);
      }
    });
    it(`reaches the first and the last line, ${total} lines`, () => {
      expect(lineAtScroll(extent, 0)).toBe(0);
      const last = lineAtScroll(extent, tallOf(extent));
      expect(last + extent.view / extent.rowHeight).toBeCloseTo(Math.max(total, extent.view / 19), 3);
    });
    it(`is never taller than browsers take, ${total} lines`, () => {
      expect(tallOf(extent)).toBeLessThanOrEqual(8_000_000);
    });
  }
});

describe("nextMatch", () => {
  const lines = [3, 10, 11, 40];
  it("goes to the next one, and around at the end", () => {
    expect([nextMatch(lines, -1, 1), nextMatch(lines, 3, 1), nextMatch(lines, 5, 1)]).toEqual([0, 1, 1]);
    expect(nextMatch(lines, 40, 1)).toBe(0);
  });
  it("goes to the one before, and around at the start", () => {
    expect([nextMatch(lines, 40, -1), nextMatch(lines, 12, -1), nextMatch(lines, 3, -1)]).toEqual([2, 2, 3]);
  });
  it("knows that there is none", () => {
    expect(nextMatch([], 3, 1)).toBe(-1);
  });
});

describe("lanes", () => {
  const lane = (some: Partial<ConsoleLane>): ConsoleLane => ({
    id: 1,
    attempt: 1,
    writer: "w",
    stream: "stdout",
    kind: "main",
    rank: null,
    host: "",
    lines: 1,
    settled: 0,
    ...some,
  });
  it("offers what there is to choose from", () => {
    expect(lanesIn([lane({})], 1, "").map((one) => one.value)).toEqual([""]);
    const two = [lane({}), lane({ stream: "stderr" })];
    expect(lanesIn(two, 1, "").map((one) => one.value)).toEqual(["", "stderr", "stdout"]);
    const ranks = [lane({ rank: 1, writer: "b" }), lane({ rank: 0, writer: "a" })];
    expect(lanesIn(ranks, 1, "").map((one) => one.title)).toEqual(["All lines", "rank 0", "rank 1"]);
    expect(lanesIn([lane({})], 2, "").map((one) => one.value)).toEqual(["", "@1", "@2"]);
  });
  it("keeps the chosen one among them", () => {
    expect(lanesIn([], 1, "@3").at(-1)).toEqual({ value: "@3", title: "Attempt 3" });
  });
  it("reads a choice", () => {
    expect(choiceOf("@2").attempt).toBe(2);
    expect(choiceOf("=w1").writer).toBe("w1");
    expect(choiceOf("stderr").stream).toBe("stderr");
    expect(choiceOf("")).toEqual({ writer: null, stream: null, attempt: null });
    expect(whoOf(lane({ rank: 3 }))).toBe("rank 3");
  });
});
