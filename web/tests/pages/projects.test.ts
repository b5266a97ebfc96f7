import { describe, expect, it } from "vitest";
import { choose } from "../../src/pages/projects/order";
import type { ProjectOverview } from "../../src/server/types";

function project(name: string, some: Partial<ProjectOverview> = {}): ProjectOverview {
  return {
    entity: "ada",
    name,
    access: "team",
    description: "",
    created_ns: 0,
    retention_days: null,
    quota_bytes: null,
    num_runs: 0,
    num_running: 0,
    active_ns: 0,
    activity: [],
    ...some,
  };
}

describe("the list of projects", () => {
  const all = [
    project("b10", { num_runs: 5, active_ns: 1 }),
    project("b9", { num_runs: 7, active_ns: 3, description: "speech" }),
    project("c", { num_runs: 1, active_ns: 2, num_running: 1 }),
  ];
  const names = (search: string, order: "active" | "name" | "runs") =>
    choose(all, search, order).map((one) => one.name);

  it("has what runs first, then what was active last", () => {
    expect(names("", "active")).toEqual(["c", "b9", "b10"]);
  });

  it("can be by name or by size", () => {
    expect(names("", "name")).toEqual(["b9", "b10", "c"]);
    expect(names("", "runs")).toEqual(["b9", "b10", "c"]);
  });

  it("is searched in names and descriptions", () => {
    expect(names("speech", "name")).toEqual(["b9"]);
    expect(names("ada/b1", "name")).toEqual(["b10"]);
    expect(names("nothing", "name")).toEqual([]);
  });
});
