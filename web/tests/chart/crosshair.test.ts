import { afterEach, describe, expect, test } from "vitest";
import {
  crosshair,
  isLocked,
  leaveCrosshair,
  moveCrosshair,
  readings,
  readingsAt,
  toggleLock,
  unlock,
} from "../../src/chart/crosshair";
import { line } from "./lines";

afterEach(() => {
  unlock();
  crosshair.value = null;
  readings.value = null;
});

const lines = [
  line([0, 10, 20], [1, 2, 3], { id: "a" }),
  line([5, 15], [7, 8], { id: "b", low: Float64Array.of(6, 7), high: Float64Array.of(9, 9) }),
  line([0, 10], [100, 100], { id: "raw", faint: true }),
];

describe("readingsAt", () => {
  test("gives logged points, never values between, and none of faint lines", () => {
    expect([...readingsAt(lines, 13)]).toEqual([
      ["a", { x: 10, y: 2, low: null, high: null }],
      ["b", { x: 15, y: 8, low: 7, high: 9 }],
    ]);
  });
});

describe("the crosshair", () => {
  const at = (x: number, chart = "one") => ({ x, axis: "step", chart });

  test("moves with its readings in one change", () => {
    moveCrosshair(at(11), "loss", lines);
    expect(crosshair.value).toEqual(at(11));
    expect(readings.value?.title).toBe("loss");
    expect(readings.value?.values.get("a")?.y).toBe(2);
  });

  test("stays where it was locked until it is let go", () => {
    moveCrosshair(at(11), "loss", lines);
    toggleLock();
    moveCrosshair(at(20), "loss", lines);
    leaveCrosshair("one");
    expect(crosshair.value?.x).toBe(11);
    toggleLock();
    leaveCrosshair("one");
    expect(crosshair.value).toBeNull();
    expect(readings.value).toBeNull();
  });

  test("is not taken away by a chart that it has left", () => {
    moveCrosshair(at(1, "one"), "loss", lines);
    moveCrosshair(at(2, "two"), "loss", lines);
    leaveCrosshair("one");
    expect(crosshair.value?.chart).toBe("two");
  });

  test("cannot be locked where it is not", () => {
    toggleLock();
    expect(isLocked.value).toBe(false);
  });
});
