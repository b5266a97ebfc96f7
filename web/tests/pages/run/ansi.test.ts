import { describe, expect, it } from "vitest";
import { PLAIN, parseAnsi, plainText } from "../../../src/pages/run/console/ansi";
import { markFound, patternOf } from "../../../src/pages/run/console/find";
import { readable, towards } from "../../../src/pages/run/console/readable";
import { contrast } from "../../../src/series/palette";

const texts = (text: string): [string, Record<string, unknown>][] =>
  parseAnsi(text).map((span) => [
    span.text,
    Object.fromEntries(
      Object.entries(span.style).filter(([name, value]) => value !== PLAIN[name as keyof typeof PLAIN]),
    ),
  ]);

describe("parseAnsi", () => {
  it("leaves plain text alone", () => {
    expect(texts("loss 0.5 <b>no markup</b>")).toEqual([["loss 0.5 <b>no markup</b>", {}]]);
    expect(parseAnsi("")).toEqual([]);
    expect(parseAnsi("x")[0]?.style).toBe(PLAIN);
  });

  it("reads named, bright, indexed and true colours", () => {
    expect(texts("\x1b[31mred\x1b[0m \x1b[92mgreen")).toEqual([
      ["red", { colour: 1 }],
      [" ", {}],
      ["green", { colour: 10 }],
    ]);
    expect(texts("\x1b[38;5;208mo\x1b[48;2;1;2;255mb")).toEqual([
      ["o", { colour: "#ff8700" }],
      ["b", { colour: "#ff8700", background: "#0102ff" }],
    ]);
    expect(texts("\x1b[38;5;9mnamed\x1b[38;5;232mgrey")).toEqual([
      ["named", { colour: 9 }],
      ["grey", { colour: "#080808" }],
    ]);
    expect(texts("\x1b[38:5:208mparts")).toEqual([["parts", { colour: "#ff8700" }]]);
  });

  it("turns styles on and off", () => {
    expect(texts("\x1b[1;3;4;9mall\x1b[22;23mless\x1b[24;29;7minverse\x1b[27mplain")).toEqual([
      ["all", { bold: true, italic: true, underline: true, strike: true }],
      ["less", { underline: true, strike: true }],
      ["inverse", { inverse: true }],
      ["plain", {}],
    ]);
    expect(texts("\x1b[mreset")).toEqual([["reset", {}]]);
  });

  it("drops every other control and puts equal neighbours together", () => {
    expect(texts("a\x1b[2Kb\x1b]8;;http://x\x07c\x1b]8;;\x1b\\d\x1b(e\x07f\rg")).toEqual([["abcdefg", {}]]);
    expect(plainText("\x1b[1;31mx\x1b[0m\ty")).toBe("x\ty");
  });

  it("survives what is cut off or makes no sense", () => {
    expect(texts("end\x1b[")).toEqual([["end", {}]]);
    expect(texts("end\x1b")).toEqual([["end", {}]]);
    expect(texts("\x1b[38;5mx")).toEqual([["x", { colour: 0 }]]);
    expect(texts("\x1b[38;9mx\x1b[999my")).toEqual([["xy", {}]].map(([text]) => [text, { strike: true }]));
    expect(texts("\x1b[38;5;999mx")).toEqual([["x", {}]]);
  });
});

describe("readable", () => {
  it("has enough contrast in both themes, and changes no colour that has it", () => {
    for (const colour of ["#ff8700", "#ffff00", "#000080", "#808080", "#000000", "#ffffff"]) {
      const light = towards(colour, "#000000", "#f6e9ea");
      const dark = towards(colour, "#ffffff", "#2a2226");
      expect(contrast(light, "#f6e9ea")).toBeGreaterThanOrEqual(4.5);
      expect(contrast(dark, "#2a2226")).toBeGreaterThanOrEqual(4.5);
      expect(readable(colour)).toBe(`light-dark(${light}, ${dark})`);
    }
    expect(towards("#000080", "#000000", "#f6e9ea")).toBe("#000080");
  });
});

describe("markFound", () => {
  const found = (text: string, wanted: string, isRegex = false): string[] =>
    markFound(parseAnsi(text), patternOf({ text: wanted, isRegex, matchCase: false }))
      .filter((span) => span.isFound)
      .map((span) => span.text);

  it("finds text in any case, and what goes over several spans", () => {
    expect(found("Loss and loss", "LOSS")).toEqual(["Loss", "loss"]);
    const spans = markFound(
      parseAnsi("a\x1b[31mbc\x1b[0md"),
      patternOf({ text: "bcd", isRegex: false, matchCase: true }),
    );
    expect(spans.map((span) => [span.text, span.isFound])).toEqual([
      ["a", false],
      ["bc", true],
      ["d", true],
    ]);
  });

  it("takes text literally unless it is a pattern", () => {
    expect(found("a.c abc", "a.c")).toEqual(["a.c"]);
    expect(found("a.c abc", "a.c", true)).toEqual(["a.c", "abc"]);
    expect(found("a/b (x)", "/b (")).toEqual(["/b ("]);
  });

  it("marks nothing for a pattern that cannot be read, or that is empty", () => {
    expect(patternOf({ text: "(", isRegex: true, matchCase: false })).toBeNull();
    expect(patternOf({ text: "", isRegex: false, matchCase: false })).toBeNull();
    expect(found("abc", "x*", true)).toEqual([]);
  });

  it("never changes the text", () => {
    const text = "step \x1b[1;32m10\x1b[0m loss 0.1\x1b[2m0\x1b[0m1";
    for (const wanted of ["1", "0.10", "p 10 l", "zzz", "step 10 loss 0.101"]) {
      const spans = markFound(parseAnsi(text), patternOf({ text: wanted, isRegex: false, matchCase: false }));
      expect(spans.map((span) => span.text).join("")).toBe(plainText(text));
    }
  });
});
