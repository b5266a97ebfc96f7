import { describe, expect, test } from "vitest";
import type { Stretch } from "../../src/chart/columns";
import { type Ink, Sheet } from "../../src/chart/sheet";

const RED: Ink = { red: 200, green: 10, blue: 20, alpha: 1 };

function sheetOf(width: number, height: number): { sheet: Sheet; pixel: (x: number, y: number) => number[] } {
  const data = new Uint8ClampedArray(4 * width * height);
  const sheet = new Sheet({ data, width, height } as unknown as ImageData);
  return { sheet, pixel: (x, y) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)] };
}

function stretchOf(columns: readonly (readonly [top: number, bottom: number, slope?: number])[]): Stretch {
  return {
    first: 0,
    last: columns.length,
    top: Float32Array.from(columns, ([top]) => top),
    bottom: Float32Array.from(columns, ([, bottom]) => bottom),
    slope: Float32Array.from(columns, ([, , slope]) => slope ?? 0),
  };
}

/** How much ink a column has, in whole pixels. */
function inkIn(pixel: (x: number, y: number) => number[], x: number, height: number): number {
  let sum = 0;
  for (let y = 0; y < height; y++) sum += (pixel(x, y)[3] as number) / 255;
  return sum;
}

describe("Sheet", () => {
  test("a level line is as thick as its pen, fractions as faint pixels", () => {
    const { sheet, pixel } = sheetOf(2, 8);
    sheet.line(stretchOf([[4, 4]]), RED, 1.5);
    expect(pixel(0, 3)).toEqual([200, 10, 20, 191]);
    expect(pixel(0, 4)).toEqual([200, 10, 20, 191]);
    expect(pixel(0, 5)[3]).toBe(0);
    expect(pixel(1, 4)[3]).toBe(0);
  });

  test("a spike is painted over its whole height, and beside it as far as the pen reaches", () => {
    const { sheet, pixel } = sheetOf(3, 20);
    sheet.line(
      stretchOf([
        [15, 15],
        [2, 15],
        [15, 15],
      ]),
      RED,
      2,
    );
    for (let y = 1; y < 16; y++) expect(pixel(1, y)).toEqual([200, 10, 20, 255]);
    expect(pixel(1, 0)[3]).toBe(0);
    expect(pixel(0, 5)[3]).toBe(128);
    expect(pixel(2, 5)[3]).toBe(128);
  });

  test("a slope has as much ink as a pen leaves on it", () => {
    const { sheet, pixel } = sheetOf(1, 20);
    sheet.line(stretchOf([[9, 10, 1]]), RED, 1.5);
    expect(inkIn(pixel, 0, 20)).toBeCloseTo(1.5 * Math.SQRT2, 1);
  });

  test("what lies outside is cut off", () => {
    const { sheet, pixel } = sheetOf(1, 4);
    sheet.line(stretchOf([[-50, 1]]), RED, 1);
    sheet.line(stretchOf([[3, 900]]), RED, 1);
    expect([0, 1, 2, 3].map((y) => pixel(0, y)[3])).toEqual([255, 128, 128, 255]);
  });

  test("lines are laid over each other like ink", () => {
    const { sheet, pixel } = sheetOf(1, 3);
    sheet.line(stretchOf([[1.5, 1.5]]), RED, 1);
    sheet.line(stretchOf([[1.5, 1.5]]), { red: 0, green: 110, blue: 220, alpha: 0.5 }, 1);
    expect(pixel(0, 1)).toEqual([100, 60, 120, 255]);
    sheet.clear();
    expect(pixel(0, 1)).toEqual([0, 0, 0, 0]);
    sheet.line(stretchOf([[1.5, 1.5]]), { ...RED, alpha: 0.5 }, 1);
    sheet.line(stretchOf([[1.5, 1.5]]), { ...RED, alpha: 0.5 }, 1);
    expect(pixel(0, 1)).toEqual([200, 10, 20, 192]);
  });
});
