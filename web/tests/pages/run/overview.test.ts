import { describe, expect, it } from "vitest";
import { quoted, reproductionOf } from "../../../src/pages/run/overview/reproduce";
import { otherResults } from "../../../src/pages/run/overview/results";
import { withParams } from "../../../src/pages/run/params";
import { tabOf } from "../../../src/pages/run/tabs";
import { bestOf, goalOf } from "../../../src/runs/best";
import { branchesOf, matching, rowsOf } from "../../../src/ui/tree-rows";

describe("the best value", () => {
  it("is the one that the server's goal means", () => {
    expect(goalOf("maximize")).toBe("max");
    expect(goalOf("minimize")).toBe("min");
    expect(goalOf(null)).toBeNull();
    expect(goalOf(undefined)).toBeNull();
  });
  it("finds the value with its step", () => {
    const digest = {
      count: 3, min: 1, max: 9, min_step: 2, max_step: 0, mean: 4, first: 9, last: 2,
      first_step: 0, last_step: 3, nan: 0, posinf: 0, neginf: 0,
    }; // biome-ignore format: one digest
    expect(bestOf(digest, "min")).toEqual({ value: 1, step: 2 });
    expect(bestOf(digest, "max")).toEqual({ value: 9, step: 0 });
    expect(bestOf(digest, null)).toBeNull();
    expect(bestOf({ ...digest, min: null, min_step: null }, "min")).toBeNull();
  });
});

describe("reproductionOf", () => {
  it("clones, checks out and goes to the folder", () => {
    const again = reproductionOf({
      command: "python train.py --lr 0.1",
      cwd: "/home/ada/code/models/big one",
      git_root: "/home/ada/code",
      git_commit: "abc",
      git_remote: "git@host:work.git",
      git_dirty: true,
      git_untracked_count: 2,
    });
    expect(again?.lines).toEqual([
      "git clone git@host:work.git again && cd again",
      "git checkout abc",
      "git apply run.diff  # the changes below, saved as run.diff",
      "cd 'models/big one'",
      "python train.py --lr 0.1",
    ]);
    expect(again?.warnings).toHaveLength(1);
  });
  it("does with what is known", () => {
    expect(reproductionOf({ command: "./x", cwd: "/tmp" })?.lines).toEqual(["cd /tmp", "./x"]);
    expect(reproductionOf({})).toBeNull();
    expect(quoted("it's")).toBe(`'it'\\''s'`);
  });
});

describe("config tree", () => {
  const branches = branchesOf({ model: { layers: [1, 2], drop: { mlp: 0.2 } }, lr: 0.1 });
  it("finds by key, by nested path and by value", () => {
    const paths = (text: string): string[] =>
      rowsOf(matching(branches, text), new Set()).map((row) => row.branch.path);
    expect(paths("drop.m")).toEqual(["model", "model.drop", "model.drop.mlp"]);
    expect(paths("0.1")).toEqual(["lr"]);
    expect(paths("nothing")).toEqual([]);
  });
});

describe("small things", () => {
  it("leaves out of the results what has its own place", () => {
    const summary = { loss: 1, best: 3, _step: 4, picture: { _type: "image-file" } };
    expect(otherResults(summary, ["loss"])).toEqual({ best: 3 });
  });
  it("changes parameters and leaves those of others", () => {
    expect(withParams("?a=1&b=x/y", { a: null, c: "2" })).toBe("?b=x/y&c=2");
    expect(withParams("?a=1", { a: "" })).toBe("");
  });
  it("knows tabs by their address", () => {
    expect([tabOf(""), tabOf("media"), tabOf("nothing")]).toEqual(["overview", "media", "overview"]);
  });
});
