// @vitest-environment happy-dom
import { describe, expect, test } from "vitest";
import { csvOf } from "../../src/chart/export/csv";
import { jsonOf } from "../../src/chart/export/json";
import { matplotlibOf } from "../../src/chart/export/matplotlib";
import { fileName } from "../../src/chart/export/save";
import { svgOf } from "../../src/chart/export/svg";
import type { FigureSpec } from "../../src/chart/figure";
import { PLAIN } from "../../src/chart/theme";
import { line, range } from "./lines";

function figure(more: Partial<FigureSpec> = {}): FigureSpec {
  return {
    title: "train/loss",
    lines: [line([0, 1, 2], [3, 2, 1])],
    xAxis: "step",
    xScale: "linear",
    yScale: "linear",
    clip: null,
    zoom: null,
    ...more,
  };
}

function parsed(svg: string): Document {
  const document = new DOMParser().parseFromString(svg, "image/svg+xml");
  expect(document.querySelector("parsererror")).toBeNull();
  return document;
}

describe("jsonOf", () => {
  test("has every line with its columns, and what JSON has no number for", () => {
    const band = { low: Float64Array.of(1, 1), high: Float64Array.of(4, 4), members: 3, label: 'a "b"' };
    const lines = [line([0, 1], [0.1, Number.NaN], { faint: true }), line([0, 2], [3, Infinity], band)];
    const { x, y, lines: found } = JSON.parse(jsonOf(lines, "step", "loss"));
    expect([x, y]).toEqual(["step", "loss"]);
    expect(found[0]).toMatchObject({ is_raw: true, axis: "left", x: [0, 1], y: [0.1, "NaN"] });
    expect(found[0]).not.toHaveProperty("low");
    expect(found[1]).toMatchObject({
      label: 'a "b"',
      num_runs: 3,
      y: [3, "Infinity"],
      low: [1, 1],
      high: [4, 4],
    });
  });
});

describe("svgOf", () => {
  test("has text as text, with its title, ticks and legend", () => {
    const lines = [
      line([0, 100], [1, 2], { label: "run one" }),
      line([0, 100], [2, 3], { label: "run two", members: 5 }),
    ];
    const texts = [...parsed(svgOf(figure({ lines }))).querySelectorAll("text")].map(
      (one) => one.textContent,
    );
    expect(texts).toEqual(
      expect.arrayContaining(["train/loss", "step", "run one", "run two (n = 5)", "100", "2.5"]),
    );
  });

  test("escapes what people named", () => {
    const svg = svgOf(figure({ title: `<script>"&'` }));
    expect(svg).not.toContain("<script>");
    expect(parsed(svg).querySelector("text")?.textContent).toBe(`<script>"&'`);
  });

  test("draws the band under the line, and dashes", () => {
    const one = line([0, 1, 2], [3, 2, 1], {
      low: Float64Array.of(2, 1, 0),
      high: Float64Array.of(4, 3, 2),
      dash: [6, 4],
    });
    const svg = svgOf(figure({ lines: [one] }));
    expect(svg.indexOf('opacity="0.18"')).toBeGreaterThan(0);
    expect(svg.indexOf('opacity="0.18"')).toBeLessThan(svg.indexOf('stroke-dasharray="6 4"'));
  });

  test("twenty runs of ten thousand points are small", () => {
    const lines = range(20).map((run) =>
      line(
        range(10_000),
        range(10_000).map((i) => Math.sin(i / 500 + run) + Math.sin(i * i)),
        { id: `${run}` },
      ),
    );
    expect(svgOf(figure({ lines })).length).toBeLessThan(600_000);
  });

  test("has a second axis with ticks of its own for lines on the right", () => {
    const lines = [line([0, 1], [0, 1]), line([0, 1], [4000, 9000], { label: "tokens", isRight: true })];
    const texts = [...parsed(svgOf(figure({ lines, rightName: "tokens/s" }))).querySelectorAll("text")].map(
      (one) => one.textContent,
    );
    expect(texts).toEqual(expect.arrayContaining(["0.4", "6k", "tokens/s"]));
  });

  test("takes fonts, sizes and a see-through background", () => {
    const style = {
      fontSize: 9,
      isTransparent: true,
      theme: { ...PLAIN, font: "Times New Roman" },
      hasLegend: false,
    };
    const svg = svgOf(figure(), { ...style, width: 300, height: 200 });
    expect(svg).toContain('font-family="Times New Roman"');
    expect(svg).toContain('viewBox="0 0 300 200"');
    expect(svg).not.toContain('fill="#ffffff"');
    expect(svg).toContain('font-size="9"');
  });

  test("tells colours with alpha in the way of SVG 1.1", () => {
    const svg = svgOf(figure(), { theme: { ...PLAIN, grid: "rgba(22, 24, 29, 0.07)" } });
    expect(svg).toContain('stroke="rgb(22, 24, 29)" stroke-opacity="0.07"');
  });
});

describe("csvOf", () => {
  test("is one row for each point, exact", () => {
    const one = line([0, 1], [0.1, 1 / 3], { label: "a, b" });
    expect(csvOf([one], "step", "train/loss")).toBe(
      'line,step,train/loss\r\n"a, b",0,0.1\r\n"a, b",1,0.3333333333333333\r\n',
    );
  });

  test("has the band where a line has one, times as ISO 8601, NaN by name", () => {
    const banded = line([1_790_000_000], [Number.NaN], {
      low: Float64Array.of(-1),
      high: Float64Array.of(1),
    });
    const plain = line([1_790_000_000.5], [2], { label: "b", faint: true });
    expect(csvOf([banded, plain], "wall", "loss").split("\r\n").slice(1, 3)).toEqual([
      "a,2026-09-21T14:13:20.000Z,NaN,-1,1",
      "b (raw),2026-09-21T14:13:20.500Z,2,,",
    ]);
  });

  test("says which axis a line is measured by if there are two", () => {
    const lines = [line([0], [1]), line([0], [2], { label: "b", isRight: true })];
    expect(csvOf(lines, "step", "y").split("\r\n")).toEqual([
      "line,step,y,axis",
      "a,0,1,left",
      "b,0,2,right",
      "",
    ]);
  });

  test("a name that a spreadsheet would run is made plain", () => {
    expect(csvOf([line([0], [1], { label: "=HYPERLINK(1)" })], "step", "loss")).toContain(
      "'=HYPERLINK(1),0,1",
    );
  });
});

// That the script really draws is tested with matplotlib itself, in tests/web.
describe("matplotlibOf", () => {
  test("holds the points of the zoom and one at each side", () => {
    const script = matplotlibOf(figure({ lines: [line(range(10), range(10))], zoom: { first: 3, last: 5 } }));
    expect(script).toContain("[2, 3, 4, 5, 6]");
    expect(script).toContain("axes.set_xlim(3, 5)");
  });

  test("names are Python strings, and no mathematics", () => {
    const script = matplotlibOf(figure({ title: 'a "b" \\ $c$\n' }));
    expect(script).toContain('axes.set_title("a \\"b\\" \\\\ \\\\$c\\\\$\\n", loc="left")');
  });
});

describe("fileName", () => {
  test("is one that every file system takes", () => {
    expect(fileName("train/loss: a*b?")).toBe("train-loss-a-b");
    expect(fileName("../")).toBe("chart");
    expect(fileName("Verlust über Zeit")).toBe("Verlust-über-Zeit");
  });
});
