import { describe, expect, test } from "vitest";
import { bendOf, pixelScale } from "../../src/chart/scale";
import { type Pen, traceBand, traceLine, traceSpikes } from "../../src/chart/trace";
import { range } from "./lines";

class Recorder implements Pen {
  readonly strokes: [string, number, number][] = [];
  moveTo(x: number, y: number): void {
    this.strokes.push(["M", x, y]);
  }
  lineTo(x: number, y: number): void {
    this.strokes.push(["L", x, y]);
  }
}

const linear = bendOf("linear");
const xs = pixelScale(linear, { min: 0, max: 100 }, 0, 100);
const ys = pixelScale(linear, { min: 0, max: 10 }, 100, 0);

function traced(x: readonly number[], y: readonly number[], scaleY = ys, scaleX = xs) {
  const pen = new Recorder();
  const dots: [number, number][] = [];
  traceLine(pen, Float64Array.from(x), Float64Array.from(y), scaleX, scaleY, (px, py) => dots.push([px, py]));
  return { strokes: pen.strokes, dots };
}

describe("traceLine", () => {
  test("goes through each point", () => {
    expect(traced([0, 50, 100], [0, 5, 10]).strokes).toEqual([
      ["M", 0, 100],
      ["L", 50, 50],
      ["L", 100, 0],
    ]);
  });

  test("breaks at a gap and tells of points between gaps", () => {
    const { strokes, dots } = traced([0, 10, 20, 30, 40], [1, Number.NaN, 2, Number.NaN, 3]);
    expect(strokes.map(([kind]) => kind)).toEqual(["M", "M", "M"]);
    expect(dots.map(([x]) => x)).toEqual([0, 20, 40]);
  });

  test("on a log axis 0 and less are gaps", () => {
    const log = pixelScale(bendOf("log"), { min: 1, max: 100 }, 100, 0);
    expect(traced([0, 10, 20, 30], [1, 0, -5, 100], log).strokes).toEqual([
      ["M", 0, 100],
      ["M", 30, 0],
    ]);
  });

  test("many points per pixel cost few strokes and lose no spike", () => {
    const n = 100_000;
    const y = range(n).map((i) => (i === 61_803 ? 9 : i === 33_333 ? 0.5 : 5 + 0.1 * Math.sin(i)));
    const { strokes } = traced(
      range(n).map((i) => (i * 100) / n),
      y,
    );
    expect(strokes.length).toBeLessThan(500);
    const spike = strokes.find(([, , py]) => Math.abs(py - ys.at(9)) < 1e-9);
    expect(spike?.[1]).toBe(62);
    expect(strokes.some(([, , py]) => Math.abs(py - ys.at(0.5)) < 1e-9)).toBe(true);
  });

  test("each column of a crowded line covers what its points cover", () => {
    const n = 5000;
    const x = range(n).map((i) => (i * 100) / n);
    const y = x.map((_, i) => 5 + 4 * Math.sin(i * i));
    const covered = new Map<number, [number, number]>();
    for (const [, px, py] of traced(x, y).strokes) {
      const [low, high] = covered.get(px) ?? [Infinity, -Infinity];
      covered.set(px, [Math.min(low, py), Math.max(high, py)]);
    }
    x.forEach((place, i) => {
      const [low, high] = covered.get(Math.round(xs.at(place))) ?? [Infinity, -Infinity];
      expect(ys.at(y[i] as number)).toBeGreaterThanOrEqual(low - 1e-9);
      expect(ys.at(y[i] as number)).toBeLessThanOrEqual(high + 1e-9);
    });
  });

  test("a crowded line keeps its gaps and lone points", () => {
    const n = 1000;
    const y = range(n).map((i) => (i > 400 && i < 600 && i !== 500 ? Number.NaN : 5));
    const { strokes, dots } = traced(
      range(n).map((i) => (i * 100) / n),
      y,
    );
    expect(strokes.filter(([kind]) => kind === "M").length).toBe(3);
    expect(dots).toEqual([[50, 50]]);
  });
});

describe("traceBand", () => {
  test("is one closed shape for each stretch", () => {
    const pen = new Recorder();
    const x = Float64Array.of(0, 10, 20, 30);
    traceBand(pen, x, Float64Array.of(1, 1, Number.NaN, 1), Float64Array.of(2, 3, 4, 2), xs, ys);
    expect(pen.strokes).toEqual([
      ["M", 0, 80],
      ["L", 10, 70],
      ["L", 10, 90],
      ["L", 0, 90],
      ["M", 30, 80],
      ["L", 30, 90],
    ]);
  });

  test("a lower end that a log axis cannot show is drawn at its bottom", () => {
    const pen = new Recorder();
    const log = pixelScale(bendOf("log"), { min: 1, max: 100 }, 100, 0);
    traceBand(pen, Float64Array.of(0, 10), Float64Array.of(-1, 1), Float64Array.of(10, 10), xs, log);
    expect(pen.strokes[3]).toEqual(["L", 0, 100]);
  });
});

describe("traceSpikes", () => {
  function spikes(high: readonly number[], low = high.map(() => 1)) {
    const pen = new Recorder();
    const x = Float64Array.from(high, (_, i) => i);
    traceSpikes(pen, x, Float64Array.from(low), Float64Array.from(high), xs, ys, 1);
    return pen.strokes;
  }

  test("goes from the tip to what is beside it, up and down", () => {
    const low = [1, 1, 1, 1, 1, 0, 1, 1, 1];
    expect(spikes([2, 2, 9, 2, 2, 2, 2, 2, 2], low)).toEqual([
      ["M", 2.5, 10],
      ["L", 2.5, 80],
      ["M", 5.5, 100],
      ["L", 5.5, 90],
    ]);
  });

  test("one that two columns share is seen as well", () => {
    expect(spikes([2, 2, 9, 9, 2, 2]).filter(([kind]) => kind === "M")).toEqual([
      ["M", 2.5, 10],
      ["M", 3.5, 10],
    ]);
  });

  test("the newest point may be one", () => {
    expect(spikes([2, 2, 2, 2, 9])).toEqual([
      ["M", 4.5, 10],
      ["L", 4.5, 80],
    ]);
  });

  test("a step, a slope and a lone column are none", () => {
    expect(spikes([2, 2, 2, 9, 9, 9, 9])).toEqual([]);
    expect(spikes([1, 2, 3, 4, 5, 6, 7, 8, 9].map((value) => value / 8))).toEqual([]);
    expect(spikes([9])).toEqual([]);
  });
});
