import { describe, expect, it } from "vitest";
import { type GroupRow, groupRows, groupText } from "../../../src/pages/workspace/list/rows";
import { nextSort } from "../../../src/pages/workspace/list/toolbar";
import { staleSince } from "../../../src/runs/stale";
import { groupOf, runOf } from "./runs";

const groups = [
  groupOf("k1", ["adam", 0.1], 5),
  groupOf("k2", ["sgd", 0.1], 4),
  groupOf("k3", ["adam", 0.01], 3),
  groupOf("k4", [null, 0.1], 1),
];
const fields = ["config.opt", "config.lr"];
const members = () => ({ rows: [runOf("a"), runOf("b")], total: 5, hasMore: true });

describe("rows of groups", () => {
  it("nest by field, ordered by value, those without one last; innermost ones are closed", () => {
    const rows = groupRows(groups, fields, new Set(), members) as GroupRow[];
    expect(rows.map((row) => [row.depth, groupText(row.value), row.numRuns])).toEqual([
      [0, "adam", 8],
      [1, "0.01", 3],
      [1, "0.1", 5],
      [0, "sgd", 4],
      [1, "0.1", 4],
      [0, "none", 1],
      [1, "0.1", 1],
    ]);
    expect(rows[0]?.leaves).toEqual(["group:k1", "group:k3"]);
    expect(rows[1]?.leaf?.key).toBe("k3");
  });

  it("show the runs of an open one, and that there are more", () => {
    const [, inner] = groupRows(groups, fields, new Set(), members) as GroupRow[];
    const rows = groupRows(groups, fields, new Set([inner?.id ?? ""]), members);
    expect(rows.slice(1, 5).map((row) => row.kind)).toEqual(["group", "run", "run", "more"]);
    expect(rows[4]).toMatchObject({ shown: 2, total: 5 });
  });

  it("close an outer one with all in it", () => {
    const [outer] = groupRows(groups, fields, new Set(), members);
    expect(groupRows(groups, fields, new Set([outer?.id ?? ""]), members)).toHaveLength(5);
  });
});

describe("a run that is not heard of", () => {
  const now = 1_000_000;
  it.each([
    ["running", now - 10_000, null],
    ["running", now - 90_000, now - 90_000],
    ["finished", now - 90_000, null],
  ] as const)("%s, heard at %d: %s", (state, heard, since) => {
    expect(staleSince({ state, heartbeat_ns: heard * 1e6 }, now)).toBe(since);
  });
});

describe("sorting", () => {
  it("turns the same field round and keeps the direction for another", () => {
    expect(nextSort("-created_at", "created_at")).toBe("created_at");
    expect(nextSort("config.lr", "config.lr")).toBe("-config.lr");
    expect(nextSort("-created_at", "config.lr")).toBe("-config.lr");
  });
});
