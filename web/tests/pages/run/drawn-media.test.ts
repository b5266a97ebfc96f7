import { describe, expect, it } from "vitest";
import { figureOf } from "../../../src/pages/run/media/plotly";
import { itemsOf } from "../../../src/pages/run/media/records";
import { boxLines, type Place, sceneFormat, sceneOf } from "../../../src/pages/run/media/scene";

describe("a Plotly figure", () => {
  it("has lines, points and bars, with the names of its axes", () => {
    const figure = figureOf({
      data: [
        { type: "scatter", x: [1, 2], y: [3, null], name: "a", line: { color: "#123456" } },
        { type: "scattergl", mode: "markers", y: [5, 6] },
        { type: "bar", x: [1, 2], y: [1, 2], marker: { color: "url(#x)" } },
        { type: "heatmap", z: [[1]] },
        { type: "bar", orientation: "h", x: [1], y: [1] },
        { type: "scatter", x: [1], y: [1], yaxis: "y2" },
      ],
      layout: { title: { text: "<b>Title</b>" }, xaxis: { title: "time" }, yaxis: { type: "log" } },
    });
    expect(figure?.traces.map((one) => [one.name, one.kind, one.colour])).toEqual([
      ["a", "line", "#123456"],
      ["trace 1", "points", null],
      ["trace 2", "bar", null],
    ]);
    expect(figure?.traces[0]?.y).toEqual([3, Number.NaN]);
    expect(figure?.traces[1]?.x).toEqual([0, 1]);
    expect(figure).toMatchObject({ title: "Title", xName: "time", yScale: "log", xScale: "linear" });
    expect(figure?.missing).toEqual(["heatmap", "bar", "scatter"]);
  });

  it("reads arrays as bytes, names and moments along x", () => {
    const bytes = btoa(String.fromCharCode(...new Uint8Array(Float64Array.of(1.5, -2).buffer)));
    expect(figureOf({ data: [{ y: { dtype: "f8", bdata: bytes } }] })?.traces[0]?.y).toEqual([1.5, -2]);
    const named = figureOf({ data: [{ type: "bar", x: ["cat", "dog"], y: [1, 2] }] });
    expect([named?.names, named?.traces[0]?.x]).toEqual([
      ["cat", "dog"],
      [0, 1],
    ]);
    const timed = figureOf({ data: [{ x: ["2026-01-01", "2026-01-02"], y: [1, 2] }] });
    expect([timed?.isTime, timed?.traces[0]?.x[1]]).toEqual([true, Date.parse("2026-01-02") / 1000]);
  });

  it("that has nothing of it is none", () => {
    for (const json of [null, [], {}, { data: [] }, { data: [{ type: "pie", values: [1] }] }])
      expect(figureOf(json)).toBeNull();
  });
});

describe("a scene", () => {
  it("has points with colours or categories, boxes and vectors", () => {
    const scene = sceneOf(
      "a.pts.json",
      JSON.stringify([
        [0, 0, 0],
        [1, 2],
        [0, 0, 1, 7],
        [0, 1, 0, 255, 0, 9],
      ]),
    );
    expect(scene?.points.map((one) => one.colour)).toEqual(["", 7, "rgb(255 0 9)"]);
    const corners: Place[] = [
      [0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1],
    ]; // biome-ignore format: a cube
    expect(boxLines(corners, "red")).toHaveLength(12);
    const whole = sceneOf(
      "a.pts.json",
      JSON.stringify({
        boxes: [{ corners, color: [1, 0, 0] }],
        vectors: [{ start: [0, 0, 0], end: [1, 1, 1] }],
      }),
    );
    expect(whole?.lines).toHaveLength(13);
    expect(whole?.lines[0]?.colour).toBe("rgb(255 0 0)");
    expect(sceneOf("a.pts.json", "no JSON")).toBeNull();
  });

  it("of a molecule has atoms and bonds", () => {
    const atom = (number: number, name: string, x: number): string =>
      `HETATM${String(number).padStart(5)} ${name.padEnd(4)} LIG A   1    ${x.toFixed(3).padStart(8)}   0.000   0.000  1.00  0.00          ${name.padStart(2)}`;
    const near = sceneOf("a.pdb", [atom(1, "C", 0), atom(2, "O", 1.4), atom(3, "N", 5)].join("\n"));
    expect([near?.points.length, near?.lines.length, near?.unit]).toEqual([3, 1, "atom"]);
    const said = sceneOf(
      "a.pdb",
      `${[atom(1, "C", 0), atom(2, "O", 9)].join("\n")}\nCONECT    1    2\nCONECT    2    1`,
    );
    expect(said?.lines).toHaveLength(1);
    const mol = [
      "water", "", "", "  3  2  0  0  0  0            999 V2000",
      "    0.0000    0.0000    0.0000 O   0", "    0.9600    0.0000    0.0000 H   0",
      "   -0.2400    0.9300    0.0000 H   0", "  1  2  1", "  1  3  1",
    ].join("\n"); // biome-ignore format: a file
    expect(sceneOf("a.sdf", mol)?.lines).toHaveLength(2);
    expect(sceneOf("a.sdf", "nothing")).toBeNull();
  });

  it("is read by the ending of its file; others are downloads", () => {
    expect(["a.pts.json", "b.PDB", "c.glb"].map(sceneFormat)).toEqual(["pts.json", "pdb", null]);
    const kinds = (type: string, path: string) => itemsOf({ _type: type, path, size: 3 })[0]?.kind;
    expect(kinds("plotly-file", "a.plotly.json")).toBe("plotly");
    expect(kinds("object3D-file", "a.pts.json")).toBe("scene");
    expect(kinds("object3D-file", "a.glb")).toBe("file");
    expect(kinds("molecule-file", "a.pdb")).toBe("scene");
  });
});
