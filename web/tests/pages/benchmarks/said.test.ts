import { expect, test } from "vitest";
import { said } from "../../../src/pages/benchmarks/said";

test("a run that is to be opened", () => {
  const run = { entity: "ann", project: "bench", run: "0123" };
  expect(said({ strobe: "run", run: ["ann", "bench", "0123"] })).toEqual({ kind: "run", run });
});

test("the view that is shown", () => {
  expect(said({ strobe: "view", view: "history" })).toEqual({ kind: "view", view: "history" });
});

test.each([
  null,
  "view",
  {},
  { strobe: "view" },
  { strobe: "view", view: "../.." },
  { strobe: "view", view: 1 },
  { strobe: "run", run: "ann/bench/0123" },
  { strobe: "run", run: ["ann", "bench"] },
  { strobe: "run", run: ["ann", "", "0123"] },
  { strobe: "run", run: ["ann", "bench", "0123", "more"] },
  { strobe: "run", run: ["ann", "bench", { id: "0123" }] },
  { strobe: "other", view: "history" },
])("anything else is not heard: %j", (message) => {
  expect(said(message)).toBeNull();
});
