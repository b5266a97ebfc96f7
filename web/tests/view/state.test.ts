import { expect, it } from "vitest";
import {
  axisKey,
  axisOfKey,
  DEFAULT_VIEW,
  panelOptions,
  patchView,
  rightEntry,
  rightMetric,
} from "../../src/view/state";

it("a patch changes what it names, and shares the rest", () => {
  const view = patchView(DEFAULT_VIEW, { charts: { clip: 5 } });
  expect(view.charts.clip).toBe(5);
  expect(view.charts.xAxis).toBe("step");
  expect(view.runs).toBe(DEFAULT_VIEW.runs);
  expect(DEFAULT_VIEW.charts.clip).toBe(0);
});

it("a panel has the options of all with its own in their place", () => {
  const { charts } = patchView(DEFAULT_VIEW, { charts: { clip: 5, overrides: { a: { yScale: "log" } } } });
  expect(panelOptions(charts, "a")).toMatchObject({ clip: 5, yScale: "log", xScale: "linear" });
  expect(panelOptions(charts, "b").yScale).toBe("linear");
});

it("any key can be the x axis, even one named step", () => {
  expect(["step", "relative", "wall", "tokens"].map(axisKey)).toEqual([null, null, null, "tokens"]);
  for (const key of ["step", "wall", "train/tokens", "key:x", "key:", ""])
    expect(axisKey(axisOfKey(key))).toBe(key);
});

it("any key can be on the right axis, even one named like a sample", () => {
  for (const key of ["acc", "system:cpu", "key:x", "key:", "system:"]) {
    for (const isSystem of [false, true])
      expect(rightMetric(rightEntry({ key, isSystem }))).toEqual({ key, isSystem });
  }
  expect(rightEntry({ key: "acc", isSystem: false })).toBe("acc");
});
