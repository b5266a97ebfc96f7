import { describe, expect, test } from "vitest";
import { axisTicks, xText } from "../../src/chart/axis";
import { bendOf } from "../../src/chart/scale";
import { sparkPath } from "../../src/chart/sparkline";
import { histogramOf } from "../../src/chart/svg/histogram";
import { brushedRows, placeValues } from "../../src/chart/svg/parallel";
import { range } from "./lines";

describe("axisTicks", () => {
  const linear = bendOf("linear");

  test("steps are whole", () => {
    expect(axisTicks("step", linear).places({ min: 0, max: 2 }, 8)).toEqual([0, 1, 2]);
  });

  test("durations and values have their own", () => {
    const relative = axisTicks("relative", linear);
    expect(relative.labels(relative.places({ min: 0, max: 7200 }, 4))).toEqual([
      "0",
      "30m",
      "1h",
      "1h 30m",
      "2h",
    ]);
    const log = axisTicks("value", bendOf("log"));
    expect(log.places({ min: 1e-3, max: 10 }, 5)).toEqual([0.001, 0.01, 0.1, 1, 10]);
  });

  test("the first tick of a day says which day it is", () => {
    const wall = axisTicks("wall", linear);
    const noon = new Date(2026, 2, 5, 12).getTime() / 1000;
    const labels = wall.labels([0, 6, 12, 18].map((hours) => noon + hours * 3600));
    expect(labels).toEqual(["12:00", "18:00", "Mar 6", "06:00"]);
  });

  test("a place is told in words", () => {
    expect(xText("step", 1234.4)).toBe("step 1,234");
    expect(xText("tokens", 1234)).toBe("tokens 1,234");
  });
});

describe("sparkPath", () => {
  test("fills its box, and a constant lies in the middle", () => {
    expect(sparkPath(Float64Array.of(0, 1), Float64Array.of(0, 5), 64, 18)).toBe("M1.5 16.5l61-15");
    expect(sparkPath(Float64Array.of(0, 1), Float64Array.of(3, 3), 64, 18)).toBe("M1.5 9l61 0");
  });

  test("one point is a dot, no point is nothing", () => {
    expect(sparkPath(Float64Array.of(4), Float64Array.of(1), 64, 18)).toMatch(/^M\S+ 9l0.1 0$/);
    expect(sparkPath(Float64Array.of(4), Float64Array.of(Number.NaN), 64, 18)).toBe("");
  });
});

describe("histogramOf", () => {
  test("counts every finite value once, the greatest too", () => {
    const { edges, counts } = histogramOf(Float64Array.from([...range(101), Number.NaN]), 10);
    expect(edges).toHaveLength(11);
    expect(counts.reduce((a, b) => a + b)).toBe(101);
    expect(counts[9]).toBe(11);
  });

  test("of one value", () => {
    expect(histogramOf(Float64Array.of(3, 3))).toEqual({ edges: [2.5, 3.5], counts: [2] });
  });
});

describe("parallel coordinates", () => {
  const rows = ["a", "b", "c"].map((id) => ({ id, label: id, colour: "#000" }));
  const lr = { name: "lr", values: [0.1, 0.01, null], scale: "log" as const };
  const kind = { name: "optimizer", values: ["sgd", "adam", "adam"] };

  test("texts get places in order, what is missing none", () => {
    expect(placeValues(kind).places).toEqual([1, 0, 0]);
    expect(placeValues(lr).places).toEqual([0.1, 0.01, Number.NaN]);
    expect(placeValues(lr).range).toEqual({ min: 0.01, max: 0.1 });
  });

  test("rows must lie in every brush", () => {
    expect(brushedRows(rows, [lr, kind], {})).toBeNull();
    expect(brushedRows(rows, [lr, kind], { optimizer: { min: 0, max: 0.4 } })).toEqual(new Set(["b", "c"]));
    const both = { optimizer: { min: 0, max: 0.4 }, lr: { min: 0.001, max: 0.05 } };
    expect(brushedRows(rows, [lr, kind], both)).toEqual(new Set(["b"]));
  });
});
