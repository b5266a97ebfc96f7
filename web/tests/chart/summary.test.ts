import { describe, expect, test } from "vitest";
import { notesOf, summaryOf } from "../../src/chart/summary";
import { line, range } from "./lines";

const NOTHING = { notPositive: 0, above: 0, below: 0 };

describe("summaryOf", () => {
  test("tells the last, the least and the greatest value of each line", () => {
    const text = summaryOf("loss", "step", [line([0, 5, 10], [3, 0.5, Number.NaN], { label: "run one" })]);
    expect(text).toBe("loss by step, 1 line. run one: last 0.5 at step 5, from 0.5 to 3.");
  });

  test("tells how many more there are", () => {
    const lines = range(12).map((i) => line([0], [i], { id: String(i), label: `r${i}` }));
    expect(summaryOf("loss", "step", lines)).toContain("And 4 more lines.");
  });

  test("of an empty chart", () => {
    expect(summaryOf("loss", "step", [])).toBe("loss: no data");
  });
});

describe("notesOf", () => {
  test("counts marks over lines, and names them", () => {
    const lines = [
      line([0], [0], { label: "one", marks: [{ x: 1, kind: "nan", count: 40 }] }),
      line([0], [0], { label: "two", marks: [{ x: 1, kind: "nan", count: 2 }] }),
      line([0], [0], { label: "raw", faint: true, marks: [{ x: 1, kind: "nan", count: 2 }] }),
    ];
    expect(notesOf(lines, NOTHING)).toEqual([
      { text: "42 NaN", title: "42 logged values are NaN\none: 40\ntwo: 2" },
    ]);
  });

  test("tells what the axis does not show", () => {
    const notes = notesOf([], { above: 1, below: 1200, notPositive: 3 });
    expect(notes.map((note) => note.text)).toEqual(["↑ 1", "↓ 1,200", "3 ≤ 0"]);
  });

  test("is silent when all is shown", () => {
    expect(notesOf([line([0], [1])], NOTHING)).toEqual([]);
  });
});
