import { describe, expect, it } from "vitest";
import {
  baselineRun,
  drawnGroups,
  drawnRuns,
  groupedBy,
  groupId,
  listed,
  MOST_DRAWN,
} from "../../../src/pages/workspace/data/drawn";
import { eyesOf, showAll, showNone, showOnly, toggleEyes } from "../../../src/pages/workspace/list/eyes";
import { DEFAULT_VIEW, type RunsView } from "../../../src/view/state";
import { groupOf, runOf } from "./runs";

const runs = (n: number) => Array.from({ length: n }, (_, i) => runOf(`r${i}`));
const view = (more: Partial<RunsView> = {}): RunsView => ({ ...DEFAULT_VIEW.runs, ...more });
const ids = (some: readonly { id: string }[]) => some.map((one) => one.id);

describe("which runs are drawn", () => {
  it("draws the first ones and counts all that are shown, those of later pages too", () => {
    const drawn = drawnRuns(runs(30), [], view({ hidden: ["r0"] }), 1340);
    expect(drawn.runs).toHaveLength(20);
    expect(drawn.runs[0]?.id).toBe("r1");
    expect(drawn.visible).toBe(1339);
  });

  it("draws all that one page can when told to", () => {
    expect(drawnRuns(runs(30), [], view({ draw: 0 }), 30).runs).toHaveLength(30);
    expect(drawnRuns(runs(MOST_DRAWN + 5), [], view({ draw: 0 }), MOST_DRAWN + 5).runs).toHaveLength(
      MOST_DRAWN,
    );
  });

  it("puts pinned runs first, also those of no page that is here", () => {
    const pinned = ["far", "r5"];
    expect(ids(listed(runs(8), [runOf("far")], pinned)).slice(0, 3)).toEqual(["far", "r5", "r0"]);
    expect(
      drawnRuns(runs(8), [runOf("far")], view({ pinned, draw: 2 }), 9).runs.map((run) => run.id),
    ).toEqual(pinned);
  });

  it("draws the baseline whatever the limit", () => {
    expect(ids(drawnRuns(runs(8), [], view({ draw: 3, baseline: "r7" }), 8).runs)).toEqual([
      "r0",
      "r1",
      "r7",
    ]);
    expect(
      ids(drawnRuns(runs(8), [], view({ draw: 3, baseline: "r7", hidden: ["r7"] }), 8).runs),
    ).not.toContain("r7");
  });

  it("knows no more than the only ones that are shown", () => {
    const drawn = drawnRuns(runs(8), [], view({ shownOnly: ["r3"] }), 500);
    expect(ids(drawn.runs)).toEqual(["r3"]);
    expect(drawn.visible).toBe(1);
  });

  it("draws groups whole or not at all", () => {
    const groups = [groupOf("a", [1], 250), groupOf("b", [2], 100), groupOf("c", [3], 10)];
    const asked: string[] = [];
    const drawn = drawnGroups(
      groups,
      (group) => {
        asked.push(group.key);
        return runs(group.num_runs);
      },
      view(),
    );
    expect(asked).toEqual(["a"]);
    expect(drawn.groups?.map((one) => one.id)).toEqual([groupId("a")]);
    expect([drawn.visible, drawn.visibleGroups]).toEqual([360, 3]);
    expect(drawnGroups(groups, () => [], view({ draw: 0 })).groups).toHaveLength(3);
    expect(drawnGroups(groups, () => [], view({ hidden: [groupId("a")] })).groups).toHaveLength(2);
  });

  it("draws the group that others are compared with whatever the limit", () => {
    const groups = [groupOf("a", [1], 250), groupOf("b", [2], 45), groupOf("c", [3], 10)];
    const drawn = (more: Partial<RunsView>) =>
      drawnGroups(groups, () => [], view(more)).groups?.map((one) => one.group.key);
    expect(drawn({})).toEqual(["a", "b"]);
    expect(drawn({ baseline: groupId("c") })).toEqual(["a", "c"]);
    expect(drawn({ baseline: groupId("c"), hidden: [groupId("c")] })).toEqual(["a", "b"]);
  });
});

describe("a baseline", () => {
  it("that is a group goes when runs are grouped otherwise, a run stays", () => {
    const group = ["config.lr"];
    expect(groupedBy(group, view({ baseline: groupId("a") }))).toEqual({ group, baseline: null });
    expect(groupedBy(group, view({ baseline: "r1" }))).toEqual({ group });
  });

  it("is a run or a group, told by its name", () => {
    expect(baselineRun(view({ baseline: "r1" }))).toBe("r1");
    expect(baselineRun(view({ baseline: groupId("a") }))).toBeNull();
  });
});

describe("eyes", () => {
  it("hide, and open again", () => {
    const hidden = toggleEyes(showAll(), ["a"]);
    expect(hidden).toEqual({ hidden: ["a"], shownOnly: [] });
    expect(toggleEyes(hidden, ["a"])).toEqual(showAll());
  });

  it("add to the only ones shown, and leave nobody when the last one closes", () => {
    const one = showOnly(["a"]);
    expect(toggleEyes(one, ["b"]).shownOnly).toEqual(["a", "b"]);
    expect(toggleEyes(one, ["a"])).toEqual(showNone());
    expect(toggleEyes(showNone(), ["a"]).shownOnly).toEqual(["a"]);
  });

  it("open a mixed set", () => {
    expect(toggleEyes({ hidden: ["a"], shownOnly: [] }, ["a", "b"]).hidden).toEqual([]);
    expect(toggleEyes(showAll(), ["a", "b"]).hidden).toEqual(["a", "b"]);
  });

  it("say how it stands", () => {
    expect([showAll(), showNone(), showOnly(["a"])].map(eyesOf)).toEqual(["all", "none", "some"]);
  });
});
