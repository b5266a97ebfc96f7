import { expect, test } from "vitest";
import { said } from "../../../src/pages/benchmarks/said";

test("a run that is to be opened", () => {
  const run = { entity: "ann", project: "bench", run: "0123" };
  expect(said({ strobe: "run", run: ["ann", "bench", "0123"] })).toEqual({ kind: "run", run });
});

test("the view that is shown", () => {
  const shown = { kind: "view", view: "history", systems: "", results: 56 };
  expect(said({ strobe: "view", view: "history", results: 56 })).toEqual(shown);
});

test.each(["", "5c9430b0aa11", "5c9430b0aa11,bench-1%20AMD%20EPYC%202"])(
  "the systems that are chosen: %j",
  (systems) => {
    expect(said({ strobe: "view", view: "pareto", systems, results: 0 })).toEqual({
      kind: "view",
      view: "pareto",
      systems,
      results: 0,
    });
  },
);

test.each([
  null,
  "view",
  {},
  { strobe: "view", results: 1 },
  { strobe: "view", view: "../..", results: 1 },
  { strobe: "view", view: 1, results: 1 },
  { strobe: "view", view: "history" },
  { strobe: "view", view: "history", results: -1 },
  { strobe: "view", view: "history", results: "1" },
  { strobe: "view", view: "history", results: 1.5 },
  { strobe: "view", view: "history", systems: ["5c9430b0aa11"], results: 1 },
  { strobe: "view", view: "history", systems: "a&project=b", results: 1 },
  { strobe: "run", run: "ann/bench/0123" },
  { strobe: "run", run: ["ann", "bench"] },
  { strobe: "run", run: ["ann", "", "0123"] },
  { strobe: "run", run: ["ann", "bench", "0123", "more"] },
  { strobe: "run", run: ["ann", "bench", { id: "0123" }] },
  { strobe: "other", view: "history" },
])("anything else is not heard: %j", (message) => {
  expect(said(message)).toBeNull();
});
