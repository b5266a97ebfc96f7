import { describe, expect, it } from "vitest";
import { hostsOf, laneNames, lanesOf, ranksOf } from "../../../src/pages/run/charts/samplers";
import type { Sampler } from "../../../src/pages/run/documents";

const sampler = (lane: string, host: string, rank: number | null, attempt = 1): Sampler => ({
  lane,
  host,
  rank,
  attempt,
});

const NODES = [
  sampler("a0", "node-2", 0),
  sampler("a1", "node-2", 1),
  sampler("b2", "node-10", 2),
  sampler("b3", "node-10", null),
];

describe("samplers", () => {
  it("are named by what tells them apart", () => {
    expect([...laneNames(NODES).values()]).toEqual([
      "node-2 rank 0",
      "node-2 rank 1",
      "node-10 rank 2",
      "node-10 whole host",
    ]);
    expect([...laneNames(NODES.slice(0, 2)).values()]).toEqual(["rank 0", "rank 1"]);
    expect([...laneNames([sampler("x", "a", null), sampler("y", "b", null)]).values()]).toEqual(["a", "b"]);
  });

  it("of two attempts of one process have one name", () => {
    expect([...laneNames([sampler("x", "a", 0, 1), sampler("y", "a", 0, 2)]).values()]).toEqual(["", ""]);
  });

  it("are chosen by host and rank, in natural order", () => {
    expect(hostsOf(NODES)).toEqual(["node-2", "node-10"]);
    expect(ranksOf(NODES)).toEqual(["-", "0", "1", "2"]);
    expect(lanesOf(NODES, { host: "", rank: "" })).toBeNull();
    expect([...(lanesOf(NODES, { host: "node-2", rank: "" }) ?? [])]).toEqual(["a0", "a1"]);
    expect([...(lanesOf(NODES, { host: "node-10", rank: "-" }) ?? [])]).toEqual(["b3"]);
  });
});
