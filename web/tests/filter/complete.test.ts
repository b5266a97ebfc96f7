import { describe, expect, it } from "vitest";
import { complete, type KnownField } from "../../src/filter/complete";
import { parseFilter } from "../../src/filter/parse";
import { Random } from "../random";

const FIELDS: KnownField[] = [
  { name: "config.lr", kinds: ["number"] },
  { name: "config.model.name", kinds: ["text"], texts: ["resnet", "big net"] },
  { name: "config.use_ema", kinds: ["bool"] },
  { name: "config.weird key", kinds: ["text"] },
  { name: "summary.val/acc", kinds: ["number"], detail: "0 to 1" },
  { name: "tags", kinds: ["list"], texts: ["good", "bad"] },
];

/** Suggestions where "|" stands. */
function at(text: string, limit?: number) {
  const cursor = text.indexOf("|");
  return complete(text.replace("|", ""), cursor, FIELDS, limit);
}

const texts = (text: string): string[] => at(text).suggestions.map((suggestion) => suggestion.text);

describe("suggests", () => {
  it("fields at the beginning, after and, or, not and (", () => {
    for (const text of ["|", "state = a and |", "x or |", "not |", "(|", "state in [a] and not (|"]) {
      expect(texts(text)).toEqual(expect.arrayContaining(["state", "config.lr", "`config.weird key`"]));
    }
    expect(texts("|")).not.toContain("displayName");
  });

  it("those that begin so first, then parts that do", () => {
    expect(texts("co|")).toEqual(["config.lr", "config.model.name", "config.use_ema", "`config.weird key`"]);
    expect(texts("acc|")).toEqual(["summary.val/acc"]);
    expect(texts("na|").slice(0, 2)).toEqual(["name", "config.model.name"]);
  });

  it("operators that suit the field", () => {
    expect(texts("config.lr |")).toEqual(expect.arrayContaining(["<", "=", "exists", "in"]));
    expect(texts("config.lr |")).not.toContain("~");
    expect(texts("tags |")).toContain("has");
    expect(texts("config.use_ema |")).not.toContain("<");
    expect(texts("config.unknown |")).toContain("~");
    expect(texts("tags not h|")).toContain("has");
  });

  it("values of the field, in quotes where they need them", () => {
    expect(texts("config.model.name = |")).toEqual(["resnet", '"big net"']);
    expect(texts('config.model.name = "b|')).toEqual(['"big net"']);
    expect(texts("state = f|")).toEqual(["finished", "failed"]);
    expect(texts("state in [finished, c|")).toEqual(["crashed"]);
    expect(texts("tags has |")).toEqual(["good", "bad"]);
    expect(texts("config.use_ema = |")).toEqual(["true", "false"]);
    expect(texts("config.lr < |")).toEqual([]);
    expect(at("config.model.name = re|").field).toBe("config.model.name");
    expect(at("config.lr|").field).toBeNull();
  });

  it("what joins, after a condition", () => {
    for (const text of ["state = finished |", "config.lr exists |", "state in [a] |", "(a) |", "'a b' |"]) {
      expect(texts(text)).toEqual(["and", "or"]);
    }
    expect(texts("state in |")).toEqual(["["]);
    expect(texts("state in [a |")).toEqual([",", "]"]);
  });
});

it("replaces the word at the cursor, all of it", () => {
  expect(at("state = fin|ish and x")).toMatchObject({ from: 8, to: 14, suggestions: [{ text: "finished" }] });
  expect(at("a and |")).toMatchObject({ from: 6, to: 6 });
  expect(at("a and co|")).toMatchObject({ from: 6, to: 8 });
});

it("says how many it left out", () => {
  const all = at("|");
  expect(at("|", 3)).toMatchObject({ left: all.suggestions.length - 3 });
  expect(all.left).toBe(0);
});

it("never throws, at any cursor; what a field is completed to is a field", () => {
  const random = new Random(41);
  const parts = ["state", "config.a", "=", "in", "not", "and", "[", "]", "(", '"', "`", "tags", "has", "a,"];
  for (let round = 0; round < 2000; round++) {
    const text = random.list(8, () => random.pick(parts)).join(random.pick([" ", ""]));
    const { from, to } = complete(text, random.below(text.length + 1), FIELDS);
    expect(from).toBeLessThanOrEqual(to);
    expect(to).toBeLessThanOrEqual(text.length);
  }
  for (const { text, kind } of at("|").suggestions)
    if (kind === "field") expect(parseFilter(`${text} exists`).ok).toBe(true);
});
