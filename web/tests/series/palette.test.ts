import { describe, expect, it } from "vitest";
import {
  COLOURS,
  contrast,
  DASHES,
  hashOf,
  runColour,
  runStyles,
  STATE_COLOURS,
  stateColour,
} from "../../src/series/palette";

/** Björn Ottosson's OKLab of a linear colour. */
function lab([r, g, b]: number[]): number[] {
  const mix = (p: number, q: number, s: number): number =>
    Math.cbrt(p * (r ?? 0) + q * (g ?? 0) + s * (b ?? 0));
  const l = mix(0.4122214708, 0.5363325363, 0.0514459929);
  const m = mix(0.2119034982, 0.6806995451, 0.1073969566);
  const s = mix(0.0883024619, 0.2817188376, 0.6299787005);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** What a colour is to eyes without red or without green cones (Machado and others, 2009). */
const EYES: Record<string, number[][]> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function seen(colour: string, eye: string): number[] {
  const linear = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return lab(
    (EYES[eye] ?? []).map((row) =>
      Math.max(
        0,
        row.reduce((sum, k, i) => sum + k * (linear[i] ?? 0), 0),
      ),
    ),
  );
}

function nearestPair(colours: readonly string[], eye: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < colours.length; i++) {
    for (let k = 0; k < i; k++) {
      const [a, b] = [seen(colours[i] as string, eye), seen(colours[k] as string, eye)];
      least = Math.min(least, Math.hypot(...a.map((value, at) => value - (b[at] as number))));
    }
  }
  return least;
}

describe("colours", () => {
  it.each([...COLOURS, ...Object.values(STATE_COLOURS)])("%s stands out 3:1 from both pages", (colour) => {
    expect(contrast(colour, "#ffffff")).toBeGreaterThanOrEqual(3);
    expect(contrast(colour, "#101418")).toBeGreaterThanOrEqual(3);
  });

  it("are more than 20, all told apart; the first eight by red-green deficient eyes too", () => {
    expect(new Set(COLOURS).size).toBeGreaterThan(20);
    // 0.02 is about the least difference that is seen side by side.
    expect(nearestPair(COLOURS, "full")).toBeGreaterThan(0.06);
    for (const eye of ["protan", "deutan"]) {
      expect(nearestPair(COLOURS.slice(0, 8), eye)).toBeGreaterThan(0.06);
      expect(nearestPair(COLOURS, eye)).toBeGreaterThan(0.03);
    }
  });

  it("contrast is WCAG's", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 10);
    expect(contrast("#777777", "#777777")).toBe(1);
  });
});

describe("runs", () => {
  it("have a colour by their id alone, today as tomorrow", () => {
    expect(hashOf("")).toBe(hashOf(""));
    expect([hashOf("abc"), hashOf("run-7")]).toMatchInlineSnapshot(`
      [
        2496925249,
        4004131379,
      ]
    `);
    expect(runStyles(["b", "a", "c"]).get("a")?.colour).toBe(runColour("a"));
  });

  it("spread over all colours", () => {
    const used = new Map<string, number>();
    for (let i = 0; i < 2400; i++)
      used.set(runColour(`run-${i}`), (used.get(runColour(`run-${i}`)) ?? 0) + 1);
    expect(used.size).toBe(COLOURS.length);
    for (const times of used.values()) expect(times).toBeGreaterThan(50);
  });

  it("that share a colour differ by dash, whatever the order of the list", () => {
    const ids = Array.from({ length: 40 }, (_, i) => `run-${i}`);
    const styles = runStyles(ids);
    expect(new Set(Array.from(styles.values(), (style) => JSON.stringify(style))).size).toBe(40);
    expect(runStyles(ids.slice().reverse()).get("run-3")).toEqual(styles.get("run-3"));
    expect(DASHES[0]).toEqual([]);
  });
});

it("states have colours, unknown ones too", () => {
  expect(stateColour("running")).toBe(STATE_COLOURS.running);
  expect(stateColour("toString")).toBe(stateColour("no such state"));
});
