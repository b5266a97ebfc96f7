import { expect, test } from "vitest";
import { fullName, numResults } from "../../../src/pages/benchmarks/listing";

const listing = {
  items: [
    { entity: "ann", project: "bench", num_results: 56, newest_ns: 2 },
    { entity: "ann", project: "nightly", num_results: 4, newest_ns: 1 },
  ],
};

test("results of one project, of all, of none", () => {
  expect(numResults(listing, "ann/nightly")).toBe(4);
  expect(numResults(listing, "")).toBe(60);
  expect(numResults(listing, "ann/other")).toBe(0);
});

test("`local` is the caller's own entity, where it has another name", () => {
  expect(fullName("local/bench", "ann")).toBe("ann/bench");
  expect(fullName("local/bench", null)).toBe("local/bench");
  expect(fullName("localhost/bench", "ann")).toBe("localhost/bench");
  expect(fullName("", "ann")).toBe("");
});
