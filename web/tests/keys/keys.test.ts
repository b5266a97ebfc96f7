// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Command, commands, dispatch, isTyping, register } from "../../src/keys/commands";
import { keystroke, shownKeys } from "../../src/keys/keystroke";
import { closeFirst, ranked, score } from "../../src/keys/match";

const NONE = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

describe("keystrokes as text", () => {
  it.each([
    [{ ...NONE, key: "k", ctrlKey: true }, false, "mod+k"],
    [{ ...NONE, key: "k", metaKey: true }, true, "mod+k"],
    [{ ...NONE, key: "k", metaKey: true }, false, "meta+k"],
    [{ ...NONE, key: "?", shiftKey: true }, false, "?"],
    [{ ...NONE, key: "D", shiftKey: true }, false, "shift+d"],
    [{ ...NONE, key: " " }, false, "space"],
    [{ ...NONE, key: "ArrowDown", shiftKey: true }, false, "shift+arrowdown"],
    [{ ...NONE, key: "Shift", shiftKey: true }, false, null],
  ])("%j", (event, isMac, text) => {
    expect(keystroke(event, isMac)).toBe(text);
  });

  it("are shown as they stand on the keyboard", () => {
    expect(shownKeys("mod+k", true)).toEqual(["⌘", "K"]);
    expect(shownKeys("mod+k", false)).toEqual(["Ctrl", "K"]);
    expect(shownKeys("g p", false)).toEqual(["G", "P"]);
  });
});

describe("dispatch", () => {
  const undo: (() => void)[] = [];
  const have = (some: Partial<Command>): ReturnType<typeof vi.fn> => {
    const run = vi.fn();
    undo.push(register([{ id: "x", title: "x", group: "x", run, ...some }]));
    return run;
  };
  afterEach(() => {
    for (const one of undo.splice(0)) one();
    expect(commands.value).toEqual([]);
  });

  it("runs what was registered last", () => {
    const below = have({ keys: "l" });
    const above = have({ keys: ["l", "mod+l"] });
    expect(dispatch("l", false, 0)).toBe(true);
    expect([below, above].map((run) => run.mock.calls.length)).toEqual([0, 1]);
  });

  it("leaves keys to fields, unless a command works there too", () => {
    const plain = have({ keys: "l" });
    const everywhere = have({ keys: "mod+k", inFields: true });
    expect([dispatch("l", true, 0), dispatch("mod+k", true, 0)]).toEqual([false, true]);
    expect([plain, everywhere].map((run) => run.mock.calls.length)).toEqual([0, 1]);
  });

  it("asks whether it makes sense now", () => {
    have({ keys: "l", when: () => false });
    expect(dispatch("l", false, 0)).toBe(false);
  });

  it("takes two keys one after the other, within a second", () => {
    const run = have({ keys: "g p" });
    expect([dispatch("g", false, 0), dispatch("p", false, 500)]).toEqual([true, true]);
    expect(run).toHaveBeenCalledTimes(1);
    dispatch("g", false, 1000);
    expect(dispatch("p", false, 2500)).toBe(false);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("knows what is typed into", () => {
    const make = (html: string): Element => {
      document.body.innerHTML = html;
      return document.body.firstElementChild as Element;
    };
    expect(isTyping(make("<input>"))).toBe(true);
    expect(isTyping(make("<textarea></textarea>"))).toBe(true);
    expect(isTyping(make('<input type="checkbox">'))).toBe(false);
    expect(isTyping(make("<button></button>"))).toBe(false);
  });
});

describe("finding by typing", () => {
  it("puts beginnings before words before middles before letters in order", () => {
    const texts = ["c-h-a-r-t", "flowchart", "the chart", "chart of loss"];
    expect(ranked(texts, "chart", (text) => text)).toEqual([
      "chart of loss",
      "the chart",
      "flowchart",
      "c-h-a-r-t",
    ]);
  });

  it("takes words in any order, and leaves out what does not fit", () => {
    expect(score("switch light and dark", "dark light")).not.toBeNull();
    expect(score("projects", "xyz")).toBeNull();
    expect(ranked(["b", "a"], " ", (text) => text)).toEqual(["b", "a"]);
  });
});

describe("what the palette shows first", () => {
  it("is what was typed, before letters that lie here and there", () => {
    const items = ["ablations of several tokenizers", "Symlog scale, as is", "val/loss", "train/loss"];
    expect(closeFirst(items, "loss", (item) => item).slice(0, 2)).toEqual(["val/loss", "train/loss"]);
    expect(closeFirst(items, " ", (item) => item)).toEqual(items);
  });
});
