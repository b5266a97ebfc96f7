import { describe, expect, it } from "vitest";
import { keysOf } from "../../../src/pages/workspace/data/keys";
import { legendEntries } from "../../../src/pages/workspace/panels/legend";
import { keyTitle, panelKeys, rightTitle } from "../../../src/pages/workspace/panels/right-axis";
import { metricPanel, ownPanel } from "../../../src/pages/workspace/panels/specs";
import { line } from "../../chart/lines";

const loss = metricPanel("train/loss");

describe("the right axis of a panel", () => {
  it("takes in metrics, and samples of the system by their name for people", () => {
    const keys = panelKeys(loss, { right: ["acc", "system:system.gpu.0.gpu"] });
    expect(keys.drawn).toEqual(["train/loss", "acc", "system:system.gpu.0.gpu"]);
    expect(keys.logged).toEqual(["train/loss", "acc"]);
    expect([...keys.samples.values()]).toEqual(["system.gpu.0.gpu"]);
    expect(rightTitle(keys, loss)).toBe("acc, GPU busy, % · GPU 0");
  });

  it("moves a metric of the panel itself to the right", () => {
    const panel = ownPanel({ id: "p1", title: "", source: { kind: "keys", keys: ["a", "b"] } }, keysOf([]));
    const keys = panelKeys(panel, { right: ["b"] });
    expect(keys.drawn).toEqual(["a", "b"]);
    expect([...keys.right]).toEqual(["b"]);
  });

  it("stands beside an expression, which is drawn as one", () => {
    const panel = ownPanel(
      { id: "p1", title: "gap", source: { kind: "expression", text: "a - b" } },
      keysOf([]),
    );
    const keys = panelKeys(panel, { right: ["b"] });
    expect(keys.drawn).toEqual(["", "b"]);
    expect(keys.logged).toEqual(["a", "b"]);
    expect(keyTitle("", keys, panel)).toBe("gap");
  });
});

describe("the legend", () => {
  const entries = (right: string[], isGrouped: boolean, members = 5) =>
    legendEntries({
      lines: [
        line([0], [1], { id: "g1", label: "adam", members }),
        line([0], [1], { id: "g1\nx", label: "adam", faint: true }),
      ],
      keys: panelKeys(loss, { right }),
      spec: loss,
      isLone: false,
      groups: isGrouped ? new Map([["g1", { id: "g1", label: "adam", colour: "#111", dash: [] }]]) : null,
    });

  it("of one metric of runs is empty: the list has their names", () => {
    expect(entries([], false)).toEqual([]);
  });

  it("says how many runs a group's line stands for, also if it is one", () => {
    expect(entries([], true).map((entry) => entry.text)).toEqual(["adam (n = 5)"]);
    expect(entries([], true, 1).map((entry) => entry.text)).toEqual(["adam (n = 1)"]);
  });

  it("tells which axis measures what", () => {
    expect(entries(["acc"], false).map(({ text, isRight }) => [text, isRight])).toEqual([
      ["train/loss", false],
      ["acc", true],
    ]);
  });
});
