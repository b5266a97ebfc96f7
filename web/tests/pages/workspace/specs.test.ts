import { describe, expect, it } from "vitest";
import { keysOf } from "../../../src/pages/workspace/data/keys";
import {
  FOUND,
  freeId,
  MOST_KEYS,
  metricPanel,
  movedBefore,
  OWN,
  ownPanel,
  PINNED,
  panelOfSearch,
  panelsOf,
} from "../../../src/pages/workspace/panels/specs";
import { tellingKey } from "../../../src/runs/telling";
import { type ChartsView, DEFAULT_VIEW, type Panel } from "../../../src/view/state";

const keys = keysOf(["train/loss", "train/acc", "val/loss", "lr", "layers/10/norm", "layers/9/norm"]);
const charts = (more: Partial<ChartsView> = {}): ChartsView => ({ ...DEFAULT_VIEW.charts, ...more });
const shape = (view: ChartsView) => panelsOf(keys, view).sections.map((section) => [section.id, section.ids]);

describe("panels", () => {
  it("are one for each metric, in sections by prefix, in natural order", () => {
    expect(shape(charts())).toEqual([
      ["", ["lr"]],
      ["layers", ["layers/9/norm", "layers/10/norm"]],
      ["train", ["train/acc", "train/loss"]],
      ["val", ["val/loss"]],
    ]);
  });

  it("begin with the pinned ones and those that people made, each once", () => {
    const panels: Panel[] = [
      { id: "p1", title: "gap", source: { kind: "expression", text: "train/loss - val/loss" } },
    ];
    expect(shape(charts({ pinned: ["val/loss", "gone"], panels })).slice(0, 2)).toEqual([
      [PINNED, ["val/loss"]],
      [OWN, ["p1"]],
    ]);
    expect(shape(charts({ pinned: ["val/loss", "p1"], panels }))[0]).toEqual([PINNED, ["val/loss", "p1"]]);
  });

  it("are found by words and patterns; a broken pattern is told", () => {
    expect(shape(charts({ search: "loss" }))).toEqual([[FOUND, ["val/loss", "train/loss"]]]);
    expect(shape(charts({ search: "/^val/" }))).toEqual([[FOUND, ["val/loss"]]]);
    expect(panelsOf(keys, charts({ search: "/(/" })).problem).toContain("regular expression");
  });

  it("are moved within their section, and back", () => {
    const [, , train] = panelsOf(keys, charts()).sections;
    if (!train) throw new Error("no section");
    const order = movedBefore(train, "train/loss", "train/acc", ["lr"]);
    expect(order).toEqual(["lr", "train/loss", "train/acc"]);
    expect(shape(charts({ order }))[2]).toEqual(["train", ["train/loss", "train/acc"]]);
    expect(movedBefore(train, "train/acc", null, [])).toEqual(["train/loss", "train/acc"]);
  });

  it("take in what their pattern finds, and say how much of it", () => {
    const names = Array.from({ length: MOST_KEYS + 5 }, (_, i) => `layers/${i}/norm`);
    const panel: Panel = { id: "p", title: "", source: { kind: "regex", pattern: "norm$" } };
    expect(ownPanel(panel, keysOf(names))).toMatchObject({
      title: `/norm$/ (${MOST_KEYS} of ${names.length} metrics)`,
    });
    expect(ownPanel(panel, keys).keys).toEqual(["layers/9/norm", "layers/10/norm"]);
  });

  it("say what is wrong with an expression", () => {
    const wrong: Panel = { id: "p", title: "", source: { kind: "expression", text: "train/loss -" } };
    expect(ownPanel(wrong, keys).problem).toMatch(/at character/);
    expect(metricPanel("a/b/c")).toMatchObject({ id: "a/b/c", short: "b/c" });
  });

  it("can be made of a search", () => {
    expect(panelOfSearch("/norm$/", [], "p1").source).toEqual({ kind: "regex", pattern: "norm$" });
    expect(panelOfSearch("loss", ["val/loss", "train/loss"], "p1").source).toEqual({
      kind: "keys",
      keys: ["train/loss", "val/loss"],
    });
    expect(freeId([{ id: "p2", title: "", source: { kind: "keys", keys: [] } }])).toBe("p3");
  });

  it("pick the metric that says most", () => {
    expect(tellingKey(keys.names)).toBe("train/loss");
    expect(tellingKey(["acc", "zz"])).toBe("acc");
    expect(tellingKey([])).toBeNull();
  });
});
