import { describe, expect, it } from "vitest";
import {
  compareSearch,
  DEFAULTS,
  decode,
  encode,
  readRanges,
  writeRanges,
} from "../../../src/pages/compare/state";
import { telling } from "../../../src/pages/compare/telling";

describe("the address of a comparison", () => {
  it("carries only what was chosen", () => {
    expect(encode(DEFAULTS)).toBe("");
    expect(compareSearch(["a", "b"], "b")).toBe("?v=1&runs=a,b&base=b");
  });
  it("survives the round trip", () => {
    const state = {
      ...DEFAULTS,
      runs: ["a", "b,c", "\\"],
      base: "a",
      tab: "explore" as const,
      all: true,
      ignore: "seed|out.*&x=1",
      closed: ["config", "config.a b"],
      figure: "last" as const,
      goals: ["train/loss:max"],
      axes: ["config.lr", "best(train/loss)"],
      smooth: 0.6,
      xs: "log" as const,
      ranges: ["lr:0.1..0.3"],
      brush: ["a"],
    };
    const decoded = decode(encode(state, [["theme", "dark"]]));
    expect(decoded.state).toEqual(state);
    expect(decoded.unknown).toEqual([["theme", "dark"]]);
  });
  it("leaves what it cannot read at its default", () => {
    expect(decode("?tab=nope&smooth=7&figure=&all=2&constructor=x").state).toEqual(DEFAULTS);
  });
  it("reads the links of a workspace", () => {
    const { state } = decode("?runs=a,b&base=b&filter=state+%3D+finished&sort=-created_at");
    expect([state.runs, state.base, state.filter]).toEqual([["a", "b"], "b", "state = finished"]);
  });
  it("writes brushes of axes with any name", () => {
    const ranges = { "a:b..c": { min: -1.5, max: 2e-7 }, "train/loss (best)": { min: 0, max: 1 } };
    expect(readRanges(writeRanges(ranges))).toEqual(ranges);
    expect(readRanges(["broken", "x:1..y"])).toEqual({});
  });
});

describe("telling metrics", () => {
  it("come first where not all are shown", () => {
    const names = ["aux/a", "aux/b", "aux/c", "train/loss", "val/acc", "zzz"];
    expect(telling(names, 3)).toEqual(["train/loss", "val/acc", "aux/a"]);
    expect(telling(names, 10)).toEqual(names);
  });
});
