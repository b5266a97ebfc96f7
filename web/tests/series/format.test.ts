import { describe, expect, it } from "vitest";
import * as format from "../../src/series/format";

const cases = <T>(call: (value: T) => string, table: [T, string][]): void => {
  it.each(table)("%s is %s", (value, text) => expect(call(value)).toBe(text));
};

describe("number", () =>
  cases(format.number, [
    [0, "0"],
    [-0, "0"],
    [0.1 + 0.2, "0.3"],
    [0.012345678, "0.01235"],
    [1e-7, "1e-7"],
    [-1.23456e-7, "-1.235e-7"],
    [1234.5678, "1,235"],
    [12345.6, "12,346"],
    [123456, "123,456"],
    [1e6, "1M"],
    [12345678, "12.35M"],
    [-2.5e9, "-2.5G"],
    [1e18, "1e18"],
    [99.999, "100"],
    [NaN, "NaN"],
    [Infinity, "inf"],
    [-Infinity, "-inf"],
    [5e-324, "4.941e-324"],
    [1.7976931348623157e308, "1.798e308"],
  ]));

describe("exact", () =>
  cases(format.exact, [
    [0.1 + 0.2, "0.30000000000000004"],
    [123456789.123, "123456789.123"],
    [NaN, "NaN"],
    [-0, "0"],
  ]));

describe("si", () =>
  cases(format.si, [
    [0, "0"],
    [999, "999"],
    [1000, "1k"],
    [1536, "1.54k"],
    [999_999, "1M"],
    [-4.2e7, "-42M"],
    [0.5, "0.5"],
    [1e30, "1e30"],
  ]));

describe("count", () =>
  cases(format.count, [
    [0, "0"],
    [999, "999"],
    [1340, "1,340"],
    [-1234567, "-1,234,567"],
    [1234.5, "1,234.5"],
    [1e21, "1e+21"],
  ]));

describe("bytes", () =>
  cases(format.bytes, [
    [0, "0 B"],
    [1023, "1023 B"],
    [512, "512 B"],
    [1536, "1.5 KiB"],
    [3.2 * 2 ** 30, "3.2 GiB"],
    [2 ** 50, "1 PiB"],
  ]));

describe("duration", () =>
  cases(format.duration, [
    [0, "0 s"],
    [0.00002, "20 µs"],
    [0.25, "250 ms"],
    [0.9999, "1 s"],
    [12.34, "12.3 s"],
    [59.97, "1m 00s"],
    [303, "5m 03s"],
    [3599.6, "1h 00m"],
    [8100, "2h 15m"],
    [86399, "1d 0h"],
    [3 * 86400 + 4 * 3600, "3d 4h"],
    [-5, "-5 s"],
    [NaN, "NaN"],
    [Infinity, "inf"],
  ]));

describe("relative time", () => {
  const now = Date.UTC(2026, 5, 15, 12);
  cases(
    (seconds: number) => format.relativeTime(now - seconds * 1000, now),
    [
      [0, "just now"],
      [-3, "just now"],
      [42, "42 s ago"],
      [300, "5 min ago"],
      [7300, "2 h ago"],
      [200000, "2 d ago"],
      [-300, "in 5 min"],
      [NaN, "unknown"],
    ],
  );
  it("is a date when it is long ago", () => {
    expect(format.relativeTime(now - 100 * 86400_000, now)).toMatch(/^2026-03-0\d$/);
  });
});

it("dates, changes, shares, counted things", () => {
  expect(format.dateTime(new Date(2026, 2, 5, 14, 3, 9).getTime())).toBe("2026-03-05 14:03:09");
  expect(format.dateTime(NaN)).toBe("unknown");
  expect([0.0123, -4, 0, NaN].map((value) => format.delta(value))).toEqual(["+0.0123", "-4", "0", "NaN"]);
  expect(format.percent(0.1234)).toBe("12.3 %");
  expect([format.counted(1, "run"), format.counted(1340, "run")]).toEqual(["1 run", "1,340 runs"]);
});
