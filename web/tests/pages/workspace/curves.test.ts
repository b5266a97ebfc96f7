// The store of curves before a server that counts what it is asked: real requests, real decoding, no network.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CurveStore, type CurveWish } from "../../../src/pages/workspace/data/curves";
import type { PointNews } from "../../../src/server/live";

interface Asked {
  runs: string[];
  keys: string[];
  first: number | null;
  last: number | null;
  pixels: number;
}

const POINTS = 1000;
let asked: Asked[] = [];

/** One curve of POINTS points for each run and key; in buckets of ten where there are more than pixels. */
function answer(body: Asked): ArrayBuffer {
  const first = Math.max(0, body.first ?? 0);
  const last = Math.min(POINTS - 1, body.last ?? POINTS - 1);
  const isRaw = last - first + 1 <= body.pixels;
  const steps: number[] = [];
  for (let step = first; step <= last; step += isRaw ? 1 : 10) steps.push(step);
  const columns: Float64Array[] = [];
  const series = body.runs.flatMap((run) =>
    body.keys.map((key) => ({
      run,
      key,
      lane: "",
      is_raw: isRaw,
      is_approximate: false,
      started_ns: 0,
      version: 1,
      columns: {} as Record<string, unknown>,
    })),
  );
  const names = isRaw
    ? ["step", "time", "value"]
    : ["step", "step_end", "time", "time_end", "min", "max", "mean", "first", "last", "min_step", "max_step"];
  const head = () => new TextEncoder().encode(JSON.stringify({ series }));
  const place = (base: number): void => {
    let offset = base;
    columns.length = 0;
    for (const one of series) {
      for (const name of names) {
        one.columns[name] = ["f8", offset, steps.length];
        columns.push(Float64Array.from(steps, (step) => (name.endsWith("end") ? step + 9 : step)));
        offset += 8 * steps.length;
      }
    }
  };
  place(1 << 16);
  const bytes = head();
  const body_ = new ArrayBuffer((1 << 16) + columns.length * 8 * steps.length);
  new DataView(body_).setBigUint64(0, BigInt(bytes.length), true);
  new Uint8Array(body_, 8).set(bytes);
  columns.forEach((column, i) => {
    new Float64Array(body_, (1 << 16) + i * 8 * steps.length, steps.length).set(column);
  });
  return body_;
}

beforeEach(() => {
  asked = [];
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 0));
  vi.stubGlobal("fetch", async (_: string, init: { body: string }) => {
    const body = JSON.parse(init.body) as Asked;
    asked.push(body);
    return new Response(answer(body), { status: 200 });
  });
});
afterEach(() => vi.unstubAllGlobals());

const wish = (more: Partial<CurveWish> = {}): CurveWish => ({
  runs: ["ann/p/a", "ann/p/b"],
  keys: ["loss"],
  xAxis: "step",
  pixels: 100,
  zoom: null,
  ...more,
});
const settled = () => new Promise((done) => setTimeout(done, 20));

function points(steps: number[], more: Partial<PointNews> = {}): PointNews {
  return {
    run: "ann/p/a",
    key: "loss",
    version: 2,
    replacesFrom: null,
    isCut: false,
    steps: Float64Array.from(steps),
    times: Float64Array.from(steps),
    values: Float64Array.from(steps, () => 7),
    ...more,
  };
}

describe("the store of curves", () => {
  it("asks once for what several want, and only for what it lacks", async () => {
    const store = new CurveStore();
    store.want(wish());
    store.want(wish({ keys: ["acc"] }));
    store.want(wish());
    await settled();
    expect(asked.map((one) => [one.runs.length, one.keys.sort()])).toEqual([[2, ["acc", "loss"]]]);
    store.want(wish({ runs: ["ann/p/a", "ann/p/b", "ann/p/c"] }));
    await settled();
    expect(asked[1]?.runs).toEqual(["ann/p/c"]);
    expect(store.read(wish())).toMatchObject({ waiting: 0, isRaw: false });
    expect(store.beat("loss").value).toBeGreaterThan(0);
  });

  it("asks more finely where it is zoomed, until every point was logged, and never again within that", async () => {
    const store = new CurveStore();
    store.want(wish());
    await settled();
    const zoomed = wish({ zoom: { first: 400, last: 440 } });
    store.want(zoomed);
    expect(store.read(zoomed).curves).toHaveLength(2); // the coarse ones at once
    await settled();
    expect(asked.at(-1)).toMatchObject({ first: 390, last: 450, pixels: 100 });
    expect(store.read(zoomed).isRaw).toBe(true);
    const before = asked.length;
    const closer = wish({ zoom: { first: 410, last: 420 } });
    store.want(closer);
    await settled();
    expect(asked).toHaveLength(before);
    expect(store.read(closer).isRaw).toBe(true);
    expect(store.read(wish()).isRaw).toBe(false);
  });

  it("adds live points in place, once", async () => {
    const store = new CurveStore();
    const all = wish({ pixels: 2000 });
    store.want(all);
    await settled();
    const before = store.beat("loss").value;
    store.append(points([1000, 1001]));
    store.append(points([1001, 1002]));
    await settled();
    const [curve] = store.read(all).curves;
    expect(curve?.x.length).toBe(1003);
    expect(curve?.mean[1002]).toBe(7);
    expect(store.beat("loss").value).toBe(before + 1);
    expect(asked).toHaveLength(1);
  });

  it("asks again for what cannot be added", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const store = new CurveStore();
      store.want(wish({ pixels: 2000, xAxis: "tokens" }));
      await vi.advanceTimersByTimeAsync(50);
      store.append(points([1000]));
      await vi.advanceTimersByTimeAsync(5000);
      expect(asked.map((one) => one.runs)).toEqual([["ann/p/a", "ann/p/b"], ["ann/p/a"]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("looks again at runs that changed behind its back", async () => {
    const store = new CurveStore();
    store.want(wish());
    await settled();
    store.refresh(new Map([["ann/p/b", 1]]));
    await settled();
    expect(asked).toHaveLength(1); // the version is the one that it has
    store.refresh(new Map([["ann/p/b", 2]]));
    await settled();
    expect(asked[1]?.runs).toEqual(["ann/p/b"]);
  });
});
