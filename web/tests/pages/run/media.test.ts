import { describe, expect, it } from "vitest";
import { heatOf } from "../../../src/pages/run/media/heat";
import { isTable, itemsOf } from "../../../src/pages/run/media/records";
import { nearestPlace, placeOf, stepShown, unionOf } from "../../../src/pages/run/media/steps";

describe("steps", () => {
  const steps = unionOf([
    [0, 40, 80],
    [0, 20, 40],
  ]);
  it("are those that were logged, each once", () => expect(steps).toEqual([0, 20, 40, 80]));
  it("stand at the last one at or before what is wanted", () => {
    expect([placeOf(steps, 0), placeOf(steps, 79), placeOf(steps, 80), placeOf(steps, 999)]).toEqual([
      0, 2, 3, 3,
    ]);
    expect(placeOf(steps, -5)).toBe(0);
    expect(placeOf([], 3)).toBe(-1);
  });
  it("are marked at the one that is nearest to the crosshair", () => {
    expect([-9, 9, 10, 11, 61, 999].map((step) => nearestPlace(steps, step))).toEqual([0, 0, 0, 1, 3, 3]);
    expect(nearestPlace([], 3)).toBe(-1);
  });
  it("follow the end unless one is wanted", () => {
    expect(stepShown(steps, "")).toBe(80);
    expect(stepShown(steps, "30")).toBe(20);
    expect(stepShown(steps, "x")).toBe(80);
    expect(stepShown([], "3")).toBeNull();
  });
});

describe("itemsOf", () => {
  it("reads an image with boxes in pixels, or in shares around a middle", () => {
    const box = (position: object, domain?: string): object => ({
      _type: "image-file",
      path: "a.png",
      width: 100,
      height: 50,
      boxes: {
        p: { box_data: [{ position, domain, class_id: 1, scores: { s: 0.5 } }], class_labels: { 1: "cat" } },
      },
    });
    const [pixels] = itemsOf(box({ minX: 10, maxX: 60, minY: 5, maxY: 30 }, "pixel"));
    const [shares] = itemsOf(box({ middle: [0.35, 0.35], width: 0.5, height: 0.5 }));
    for (const item of [pixels, shares]) {
      if (item?.kind !== "image") throw new Error("no image");
      const found = item.layers[0]?.boxes[0];
      expect(found?.label).toBe("cat, s 0.5");
      for (const [name, value] of Object.entries({ x: 0.1, y: 0.1, width: 0.5, height: 0.5 })) {
        expect(found?.[name as "x"]).toBeCloseTo(value, 9);
      }
    }
  });
  it("makes one item of each of several", () => {
    const items = itemsOf({
      _type: "images/separated",
      filenames: ["a", "b"],
      width: 4,
      height: 2,
      captions: ["x", "y"],
      sizes: [
        [4, 2],
        [8, 8],
      ],
    });
    expect(items.map((item) => item.kind === "image" && [item.path, item.caption, item.width])).toEqual([
      ["a", "x", 4],
      ["b", "y", 8],
    ]);
    expect(itemsOf({ _type: "audio", audio: [{ _type: "audio-file", path: "t.wav" }] })).toEqual([
      { kind: "audio", path: "t.wav", caption: "" },
    ]);
  });
  it("has something to show for every value", () => {
    expect(itemsOf("text")).toEqual([{ kind: "text", text: "text", caption: "" }]);
    expect(itemsOf({ _type: "object3D-file", path: "x", size: 3 })[0]).toMatchObject({
      what: "3D scene",
      size: 3,
    });
    expect(itemsOf({ _type: "own", values: [1] })[0]?.kind).toBe("text");
    expect(itemsOf({ _type: "own", path: "p" })[0]?.kind).toBe("file");
    expect(itemsOf([1, 2])[0]?.kind).toBe("text");
    expect(itemsOf(null)[0]?.kind).toBe("text");
  });
  it("knows what is shown as a table", () => {
    expect([isTable("table"), isTable("table-file"), isTable("chart"), isTable("histogram")]).toEqual([
      true, true, true, false,
    ]); // biome-ignore format: four answers
  });
});

describe("heatOf", () => {
  it("shares counts out over common rows", () => {
    const heat = heatOf([
      { step: 0, bins: { values: [1, 1], edges: [0, 1, 2], odd: 0 } },
      { step: 5, bins: { values: [4], edges: [0, 4], odd: 0 } },
    ]);
    expect([heat?.low, heat?.high]).toEqual([0, 4]);
    const [narrow, wide] = heat?.columns ?? [];
    // The first has its values in the lower half only; the second evenly everywhere.
    expect(Array.from(narrow?.shares ?? []).map((share) => share > 0)).toEqual(
      Array.from({ length: 32 }, (_, row) => row < 16),
    );
    for (const share of wide?.shares ?? []) expect(share).toBeCloseTo(1, 9);
  });
  it("thins many steps out and keeps the last", () => {
    const all = Array.from({ length: 1000 }, (_, step) => ({
      step,
      bins: { values: [1], edges: [0, 1], odd: 0 },
    }));
    const columns = heatOf(all)?.columns ?? [];
    expect(columns.length).toBe(120);
    expect(columns.at(-1)?.step).toBe(999);
  });
  it("has nothing to show of nothing", () => expect(heatOf([])).toBeNull());
});
