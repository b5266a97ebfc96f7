import { describe, expect, it } from "vitest";
import { Backoff } from "../../src/server/backoff";
import { AnswerCache } from "../../src/server/cache";
import { address, place } from "../../src/server/client";
import { EventParser } from "../../src/server/events";
import { pointsOf } from "../../src/server/live";
import { decodeCurves, requestsOf } from "../../src/server/series";

describe("addresses", () => {
  it("encode parts and parameters, repeat lists, leave out null", () => {
    const path = place("projects", "a b", "c/d", "runs");
    expect(address(path, { sort: "-summary.acc", columns: ["x", "y&z"], cursor: null, count: true })).toBe(
      "/api/v1/projects/a%20b/c%2Fd/runs?sort=-summary.acc&columns=x&columns=y%26z&count=true",
    );
    expect(address("/api/v1/server")).toBe("/api/v1/server");
  });
});

describe("waiting for a server", () => {
  it("doubles up to ten seconds", () => {
    const backoff = new Backoff();
    const waits = Array.from({ length: 7 }, () => backoff.next(() => 0));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    backoff.reset();
    expect(backoff.next(() => 1)).toBe(375);
  });
});

describe("kept answers", () => {
  it("let the one not used for longest go", () => {
    const cache = new AnswerCache<number>(2);
    cache.put("a", "1", 1);
    cache.put("b", "2", 2);
    cache.find("a");
    cache.put("c", "3", 3);
    expect([cache.find("a")?.value, cache.find("b")?.value, cache.find("c")?.value]).toEqual([
      1,
      undefined,
      3,
    ]);
    cache.put("a", null, 9);
    expect(cache.find("a")).toBeUndefined();
  });
});

describe("events", () => {
  const text =
    'retry: 1000\n\nid: h-1-2\nevent: hello\ndata: {"hub":"h"}\n\n: still here\n\nevent: run\ndata: {}\n\n';

  it.each([1, 2, 7, 1000])("come out the same in pieces of %i", (size) => {
    const parser = new EventParser();
    const found = [];
    for (let i = 0; i < text.length; i += size) found.push(...parser.push(text.slice(i, i + size)));
    expect(found).toEqual([
      { name: "hello", data: '{"hub":"h"}', id: "h-1-2" },
      { name: "run", data: "{}", id: null },
    ]);
  });

  it("of points have numbers, whatever JSON cannot say", () => {
    const data = {
      run: "e/p/r",
      key: "k",
      version: 3,
      steps: [1, 2],
      times_ns: [1e18, 2e18],
      values: ["NaN", "-Infinity"],
    };
    const points = pointsOf(data);
    expect([...points.values]).toEqual([Number.NaN, Number.NEGATIVE_INFINITY]);
    expect([...points.times]).toEqual([1e9, 2e9]);
    expect([points.isCut, points.replacesFrom]).toEqual([false, null]);
    expect(pointsOf({ ...data, is_cut: true, replaces_from: 7 })).toMatchObject({
      isCut: true,
      replacesFrom: 7,
    });
  });
});

describe("series", () => {
  /** Return a body as strobe.wire.series writes it. */
  function body(
    facts: Record<string, unknown>,
    columns: Record<string, Float64Array | Uint32Array>,
  ): ArrayBuffer {
    const size = 1024;
    let offset = 8 + size;
    const places: Record<string, unknown> = {};
    for (const [name, cells] of Object.entries(columns)) {
      places[name] = [cells instanceof Float64Array ? "f8" : "u4", offset, cells.length];
      offset += Math.ceil(cells.byteLength / 8) * 8;
    }
    const bytes = new Uint8Array(offset);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(size), true);
    const head = JSON.stringify({ series: [{ ...facts, columns: places }] }).padEnd(size);
    bytes.set(new TextEncoder().encode(head), 8);
    for (const [name, cells] of Object.entries(columns)) {
      bytes.set(new Uint8Array(cells.buffer), (places[name] as number[])[1] as number);
    }
    return bytes.buffer;
  }
  const facts = { run: "e/p/r", key: "loss", lane: "", is_approximate: false, started_ns: 5, version: 2 };

  it("of points are wrapped, not copied", () => {
    const value = Float64Array.of(0.5, Number.NaN);
    const bytes = body(
      { ...facts, is_raw: true },
      { step: Float64Array.of(0, 1), time: Float64Array.of(10, 11), value },
    );
    const [curve] = decodeCurves(bytes, "time");
    expect(curve?.mean.buffer).toBe(bytes);
    expect([...(curve?.x ?? [])]).toEqual([10, 11]);
    expect(curve?.min).toBe(curve?.mean);
    expect([curve?.isRaw, curve?.count, curve?.run]).toEqual([true, null, "e/p/r"]);
  });

  it("of buckets have their extremes and counts", () => {
    const one = (value: number) => Float64Array.of(value);
    const columns = {
      step: one(0),
      step_end: one(9),
      time: one(1),
      mean: one(2),
      min: one(1),
      max: one(3),
      count: Uint32Array.of(10),
    };
    const [curve] = decodeCurves(body({ ...facts, is_raw: false }, columns), "step");
    expect([curve?.min[0], curve?.mean[0], curve?.max[0], curve?.count?.[0], curve?.stepEnd[0]]).toEqual([
      1, 2, 3, 10, 9,
    ]);
  });

  it("are asked for in parts that the server takes", () => {
    const runs = Array.from({ length: 300 }, (_, i) => `e/p/${i}`);
    const parts = requestsOf({ runs, keys: ["a", "b", "c", "d", "e"], pixels: 1000 });
    expect(parts.every((part) => part.runs.length * part.keys.length <= 1000)).toBe(true);
    const asked = parts.flatMap((part) =>
      part.runs.flatMap((run) => part.keys.map((key) => `${run}:${key}`)),
    );
    expect(new Set(asked).size).toBe(1500);
    expect(asked.length).toBe(1500);
    expect(requestsOf({ runs: ["a"], keys: ["b"], pixels: 20_000 })).toHaveLength(1);
  });
});
