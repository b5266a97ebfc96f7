import { describe, expect, it } from "vitest";
import { ema, smooth, smoothingUnit } from "../../src/series/smooth";
import type { SmoothingKind } from "../../src/view/state";
import { Random } from "../random";

const KINDS: SmoothingKind[] = ["ema", "gaussian", "window", "median", "min", "max"];
const f = (...values: number[]): Float64Array => Float64Array.from(values);

/** The formulas at the head of smooth.ts, written out: O(n²). */
function naive(x: Float64Array, y: Float64Array, kind: SmoothingKind, a: number, unit: number): number[] {
  const half = (unit * (1 + a)) / (1 - a) / 2;
  const sigma = (unit * Math.sqrt(a / 3)) / (1 - a);
  return Array.from(y, (own, i) => {
    if (!Number.isFinite(own)) return Number.NaN;
    let top = 0;
    let bottom = 0;
    const window: number[] = [];
    for (let j = 0; j < y.length; j++) {
      const value = y[j] as number;
      if (!Number.isFinite(value)) continue;
      const d = (x[i] as number) - (x[j] as number);
      let weight = kind === "gaussian" ? Math.exp(-((d / sigma) ** 2) / 2) : 0;
      if (kind === "ema" && j <= i) weight = a ** (d / unit);
      if ((x[j] as number) <= (x[i] as number) + half && (x[j] as number) >= (x[i] as number) - half) {
        window.push(value);
        if (kind === "window") weight = 1;
      }
      top += weight * value;
      bottom += weight;
    }
    window.sort((p, q) => p - q);
    const n = window.length;
    if (kind === "min") return window[0] as number;
    if (kind === "max") return window[n - 1] as number;
    if (kind === "median") {
      return n % 2
        ? (window[(n - 1) / 2] as number)
        : ((window[n / 2 - 1] as number) + (window[n / 2] as number)) / 2;
    }
    return top / bottom;
  });
}

describe.each(KINDS)("%s", (kind) => {
  it("is the formula, at any spacing, with gaps", () => {
    const random = new Random(7);
    for (let round = 0; round < 40; round++) {
      const n = 1 + random.below(120);
      const x = random.ascending(n, true);
      const y = random.values(n);
      const amount = random.pick([0.1, 0.5, 0.9, 0.97]);
      const unit = smoothingUnit(x);
      const wanted = naive(x, y, kind, amount, unit);
      const got = smooth(x, y, { kind, amount });
      for (let i = 0; i < n; i++) {
        if (Number.isNaN(wanted[i])) expect(got[i]).toBeNaN();
        // The Gaussian is approximated; the values here span 10.
        else
          expect(Math.abs((got[i] as number) - (wanted[i] as number))).toBeLessThan(
            kind === "gaussian" ? 0.02 : 1e-9,
          );
      }
    }
  });

  it("leaves constants exactly alone, on linear and log axes", () => {
    const x = new Random(1).ascending(500);
    for (const value of [0.1, 1 / 3, 1e-300, 1e300, 7]) {
      const y = new Float64Array(500).fill(value);
      expect(smooth(x, y, { kind, amount: 0.93 })).toEqual(y);
      expect(smooth(x, y, { kind, amount: 0.93 }, { log: true })).toEqual(y);
    }
    const negative = new Float64Array(50).fill(-0.7);
    expect(smooth(x.subarray(0, 50), negative, { kind, amount: 0.5 })).toEqual(negative);
  });

  it("keeps gaps and takes nothing from them", () => {
    const y = f(1, Number.NaN, 1, Number.POSITIVE_INFINITY, 1, Number.NEGATIVE_INFINITY, 1);
    expect(Array.from(smooth(f(0, 1, 2, 3, 4, 5, 6), y, { kind, amount: 0.9 }))).toEqual([
      1,
      NaN,
      1,
      NaN,
      1,
      NaN,
      1,
    ]);
  });

  it("does nothing to nothing, to one point, to gaps alone", () => {
    expect(smooth(f(), f(), { kind, amount: 0.9 })).toEqual(f());
    expect(smooth(f(3), f(5), { kind, amount: 0.9 })).toEqual(f(5));
    expect(Array.from(smooth(f(1, 2), f(NaN, NaN), { kind, amount: 0.9 }))).toEqual([NaN, NaN]);
    const y = f(1, 2, 3);
    expect(smooth(f(0, 1, 2), y, { kind, amount: 0 })).toBe(y);
  });

  it("is the same for the same spacing elsewhere, and for x that is all one place", () => {
    const random = new Random(3);
    const y = random.values(60, 0);
    const x = Float64Array.from(y, (_, i) => i);
    const far = x.map((value) => value * 1000 + 1e6);
    const [near, there] = [smooth(x, y, { kind, amount: 0.8 }), smooth(far, y, { kind, amount: 0.8 })];
    for (let i = 0; i < 60; i++) expect(there[i]).toBeCloseTo(near[i] as number, 9);
    for (const value of smooth(new Float64Array(60), y, { kind, amount: 0.8 })) expect(value).not.toBeNaN();
  });
});

describe("log axis", () => {
  it("averages in log space: the mean of 1 and 100 is 10; what is not positive is a gap", () => {
    const got = smooth(f(0, 0, 0), f(1, 100, -4), { kind: "window", amount: 0.5 }, { log: true });
    expect(got[0]).toBeCloseTo(10, 12);
    expect(got[2]).toBeNaN();
  });
});

describe("ema", () => {
  it("is the classic corrected average for even spacing", () => {
    const y = new Random(5).values(100, 0);
    const x = Float64Array.from(y, (_, i) => i * 10);
    const got = smooth(x, y, { kind: "ema", amount: 0.9 });
    let last = 0;
    for (let i = 0; i < 100; i++) {
      last = last * 0.9 + (y[i] as number) * 0.1;
      expect(got[i]).toBeCloseTo(last / (1 - 0.9 ** (i + 1)), 10);
    }
  });

  it("goes by distance: a point twice as far weighs the square", () => {
    expect(ema(f(0, 1), f(0, 1), 0.5, 1)[1]).toBeCloseTo(1 / 1.5, 14);
    expect(ema(f(0, 2), f(0, 1), 0.5, 1)[1]).toBeCloseTo(1 / 1.25, 14);
  });

  it("goes by distance however small the unit is", () => {
    expect(ema(f(0, 5e-324), f(0, 1), 0.5, 5e-324)[1]).toBeCloseTo(1 / 1.5, 14);
  });

  it("walks along an x that goes back", () => {
    const got = smooth(f(5, 4, 3, 2), f(1, 2, 3, 4), { kind: "ema", amount: 0.5 });
    expect(got).toEqual(smooth(f(0, 1, 2, 3), f(1, 2, 3, 4), { kind: "ema", amount: 0.5 }));
  });
});

describe("unit", () => {
  it("is the spacing up to 1,000 points and a thousandth of the range beyond", () => {
    expect(smoothingUnit(f(0, 2, 4))).toBe(2);
    expect(smoothingUnit(Float64Array.from({ length: 5001 }, (_, i) => i))).toBe(5);
    expect(smoothingUnit(f(3))).toBe(1);
    expect(smoothingUnit(f(3, 3))).toBe(1);
  });
});

it("a huge value that left the window leaves nothing behind", () => {
  const y = f(1e300, 1, 2, 3, 4, 5, 6, 7);
  const got = smooth(f(0, 1, 2, 3, 4, 5, 6, 7), y, { kind: "window", amount: 0.5 });
  expect(got[6]).toBe(6);
});

it("is quick", () => {
  const n = 200_000;
  const random = new Random(11);
  const y = Float64Array.from({ length: n }, () => random.next());
  const even = Float64Array.from({ length: n }, (_, i) => i);
  const uneven = random.ascending(n);
  for (const [name, x] of [
    ["even", even],
    ["uneven", uneven],
  ] as const) {
    const told = KINDS.map((kind) => {
      smooth(x.subarray(0, 50_000), y.subarray(0, 50_000), { kind, amount: 0.9 });
      const start = performance.now();
      smooth(x, y, { kind, amount: 0.9 });
      const took = performance.now() - start;
      expect(took).toBeLessThan(3000);
      return `${kind} ${took.toFixed(0)} ms`;
    });
    console.log(`smoothing 200,000 points, ${name} x: ${told.join(", ")}`);
  }
}, 60_000);
