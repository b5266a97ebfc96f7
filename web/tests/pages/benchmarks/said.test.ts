import { expect, test } from "vitest";
import { said } from "../../../src/pages/benchmarks/said";

test("a run that is to be opened", () => {
  const run = { entity: "ann", project: "bench", run: "0123" };
  expect(said({ strobe: "run", run: ["ann", "bench", "0123"] })).toEqual({ kind: "run", run });
});

test("the view that is shown", () => {
  expect(said({ strobe: "view", view: "history" })).toEqual({ kind: "view", view: "history", systems: "" });
});

test.each(["", "5c9430b0aa11", "5c9430b0aa11,bench-1%20AMD%20EPYC%202"])(
  "the systems that are chosen: %j",
  (systems) => {
    expect(said({ strobe: "view", view: "pareto", systems })).toEqual({
      kind: "view",
      view: "pareto",
      systems,
    });
  },
);

test.each([
  null,
  "view",
  {},
  { strobe: "view" },
  { strobe: "view", view: "../.." },
  { strobe: "view", view: 1 },
  { strobe: "view", view: "history", systems: ["5c9430b0aa11"] },
  { strobe: "view", view: "history", systems: "a&project=b" },
  { strobe: "run", run: "ann/bench/0123" },
  { strobe: "run", run: ["ann", "bench"] },
  { strobe: "run", run: ["ann", "", "0123"] },
  { strobe: "run", run: ["ann", "bench", "0123", "more"] },
  { strobe: "run", run: ["ann", "bench", { id: "0123" }] },
  { strobe: "other", view: "history" },
])("anything else is not heard: %j", (message) => {
  expect(said(message)).toBeNull();
});
