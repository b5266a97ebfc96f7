import { describe, expect, it } from "vitest";
import {
  durationTicks,
  linearTicks,
  logTicks,
  symlogTicks,
  tickTexts,
  timeTicks,
} from "../../src/series/ticks";
import { Random } from "../random";

describe("linear", () => {
  it("takes round numbers, without rounding noise", () => {
    expect(linearTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(-0.25, 0.3, 6)).toEqual([-0.2, -0.1, 0, 0.1, 0.2, 0.3]);
    expect(linearTicks(0, 0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(linearTicks(1e9, 1e9 + 4, 4)).toEqual([1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4]);
  });

  it("has one for a point and none for nonsense", () => {
    expect(linearTicks(3, 3)).toEqual([3]);
    for (const [low, high] of [
      [NaN, 1],
      [0, Infinity],
      [2, 1],
    ] as const) {
      for (const ticks of [linearTicks, logTicks, timeTicks, durationTicks])
        expect(ticks(low, high)).toEqual([]);
      expect(symlogTicks(low, high, 1)).toEqual([]);
    }
  });
});

describe("log", () => {
  it("takes powers, fewer of many, more of few", () => {
    expect(logTicks(1e-3, 1e2, 6)).toEqual([1e-3, 1e-2, 1e-1, 1, 10, 100]);
    expect(logTicks(1e-12, 1, 4)).toEqual([1e-12, 1e-9, 1e-6, 1e-3, 1]);
    expect(logTicks(1, 100, 6)).toEqual([1, 2, 5, 10, 20, 50, 100]);
    expect(logTicks(0.31, 0.34, 3)).toEqual([0.31, 0.32, 0.33, 0.34]);
  });

  it("has none below 0, and begins somewhere when the range begins at 0", () => {
    expect(logTicks(-5, -1)).toEqual([]);
    const ticks = logTicks(0, 100);
    expect(ticks.length).toBeGreaterThan(2);
    expect(ticks[ticks.length - 1]).toBe(100);
  });
});

it("symlog has 0 and powers on both sides", () => {
  expect(symlogTicks(-100, 1000, 1, 8)).toEqual([-100, -10, -1, 0, 1, 10, 100, 1000]);
  expect(symlogTicks(-0.5, 0.5, 1, 2)).toEqual([-0.5, 0, 0.5]);
  expect(symlogTicks(0, 1000, 1, 4)).toEqual([0, 1, 10, 100, 1000]);
});

it("durations are round in minutes, hours and days", () => {
  expect(durationTicks(0, 300, 5)).toEqual([0, 60, 120, 180, 240, 300]);
  expect(durationTicks(0, 4 * 3600, 4)).toEqual([0, 3600, 7200, 10800, 14400]);
  expect(durationTicks(0, 10 * 86400, 5)).toEqual([0, 2, 4, 6, 8, 10].map((day) => day * 86400));
  expect(durationTicks(0, 0.5, 5)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
});

describe("time", () => {
  const at = (...parts: [number, number, number?, number?, number?]): number =>
    new Date(parts[0], parts[1], parts[2] ?? 1, parts[3] ?? 0, parts[4] ?? 0).getTime() / 1000;

  it("is round in local time, whatever the span", () => {
    expect(timeTicks(at(2026, 0, 5, 9, 58), at(2026, 0, 5, 10, 31), 3)).toEqual([
      at(2026, 0, 5, 10, 0),
      at(2026, 0, 5, 10, 15),
      at(2026, 0, 5, 10, 30),
    ]);
    expect(timeTicks(at(2026, 0, 5, 1), at(2026, 0, 8, 1), 3)).toEqual(
      [6, 7, 8].map((day) => at(2026, 0, day)),
    );
    expect(timeTicks(at(2026, 0, 15), at(2026, 3, 15), 3)).toEqual([1, 2, 3].map((month) => at(2026, month)));
    expect(timeTicks(at(2019, 5), at(2026, 5), 7)).toEqual(
      [2020, 2021, 2022, 2023, 2024, 2025, 2026].map((y) => at(y, 0)),
    );
  });
});

it("all lie within, ascend, and are neither none nor too many", () => {
  const random = new Random(9);
  for (let round = 0; round < 500; round++) {
    const low = (random.next() - 0.3) * 10 ** random.below(10);
    const high = low + random.next() * 10 ** (random.below(12) - 3) + 1e-6;
    for (const make of [linearTicks, durationTicks, timeTicks, logTicks]) {
      const ticks = make(low, high, 6);
      expect(ticks.length).toBeLessThan(25);
      for (let i = 0; i < ticks.length; i++) {
        const slack = (high - low) * 1e-6;
        expect(ticks[i]).toBeGreaterThanOrEqual(low - slack);
        expect(ticks[i]).toBeLessThanOrEqual(high + slack);
        if (i > 0) expect(ticks[i]).toBeGreaterThan(ticks[i - 1] as number);
      }
    }
    expect(linearTicks(low, high, 6).length).toBeGreaterThan(1);
  }
});

it("texts tell neighbours apart, in few letters", () => {
  expect(tickTexts([0, 0.2, 0.4])).toEqual(["0", "0.2", "0.4"]);
  expect(tickTexts([0, 500, 1000, 1500])).toEqual(["0", "500", "1k", "1.5k"]);
  expect(tickTexts([1e-6, 1e-3, 1])).toEqual(["1e-6", "0.001", "1"]);
  expect(tickTexts([100000.1, 100000.2])).toEqual(["100000.1", "100000.2"]);
  expect(tickTexts([2e6, 4e6])).toEqual(["2M", "4M"]);
  expect(tickTexts([1000000, 1000001])).toEqual(["1M", "1000001"]);
  expect(tickTexts([])).toEqual([]);
});
