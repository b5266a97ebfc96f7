import { describe, expect, it } from "vitest";
import { decodeView, encodeView, type Parameter } from "../../src/view/codec";
import * as state from "../../src/view/state";
import { Random } from "../random";

const { DEFAULT_VIEW, patchView } = state;

function randomOptions(random: Random): state.ChartOptions {
  return {
    xAxis: random.pick(["step", "relative", "wall", "tokens", `k${random.text()}`]),
    xScale: random.pick(state.SCALES),
    yScale: random.pick(state.SCALES),
    right: random.list(3, () => random.text()),
    rightScale: random.pick(state.SCALES),
    smoothing: { kind: random.pick(state.SMOOTHINGS), amount: random.pick([0, 0.5, 0.99, 1, random.next()]) },
    clip: random.pick([0, 1, 2.5, 49]),
    aggregate: {
      center: random.pick(state.CENTERS),
      band: random.pick(state.BANDS),
      members: random.chance(0.5),
    },
    difference: random.chance(0.5),
  };
}

function some<T extends object>(random: Random, whole: T): Partial<T> {
  return Object.fromEntries(Object.entries(whole).filter(() => random.chance(0.5))) as Partial<T>;
}

function randomSource(random: Random): state.PanelSource {
  return random.pick<() => state.PanelSource>([
    () => ({ kind: "keys", keys: random.list(3, () => random.text()) }),
    () => ({ kind: "regex", pattern: random.text() }),
    () => ({ kind: "expression", text: random.text(20) }),
  ])();
}

function randomView(random: Random): state.ViewState {
  const texts = (): string[] => random.list(3, () => random.text());
  const maybe = (): string | null => (random.chance(0.5) ? null : `r${random.text()}`);
  const id = (): string => `p${random.text()}`;
  const number = (): number => (random.next() - 0.5) * 10 ** random.below(22);
  const first = number();
  const runs = {
    filter: random.text(30),
    sort: random.text(),
    group: texts(),
    hidden: texts(),
    shownOnly: texts(),
    pinned: texts(),
    baseline: maybe(),
    draw: random.below(2000),
    columns: texts(),
    sparkline: maybe(),
    selected: texts(),
  };
  const charts = {
    ...randomOptions(random),
    search: random.text(),
    zoom: random.chance(0.5) ? null : { first, last: first + Math.abs(first) + 1 },
    panels: random.list(3, () => ({ id: id(), title: random.text(), source: randomSource(random) })),
    overrides: Object.fromEntries(random.list(3, () => [id(), some(random, randomOptions(random))])),
    order: texts(),
    sizes: Object.fromEntries(
      random.list(3, () => [id(), { columns: 1 + random.below(4), height: 100 + random.below(900) }]),
    ),
    pinned: texts(),
    collapsed: texts(),
    fullScreen: maybe(),
  };
  return patchView(DEFAULT_VIEW, {
    runs: some(random, runs),
    charts: some(random, charts),
    theme: random.pick(state.THEMES),
    density: random.pick(state.DENSITIES),
  });
}

describe("round trip", () => {
  it("gives back any view, and parameters of others", () => {
    const random = new Random(20);
    for (let round = 0; round < 1000; round++) {
      const view = randomView(random);
      const unknown: Parameter[] = random.list(3, () => [`utm_${random.text()}`, random.text()]);
      const search = encodeView(view, unknown);
      expect(decodeView(search)).toEqual({ view, unknown, ignored: [] });
      // A browser's address bar changes nothing of it.
      expect(decodeView(new URL(`http://x/?${search}`).search)).toEqual({ view, unknown, ignored: [] });
      expect(encodeView(decodeView(search).view, unknown)).toBe(search);
    }
  });

  it("replaces what no address can carry", () => {
    const search = encodeView(patchView(DEFAULT_VIEW, { runs: { filter: "a\ud800b", group: ["\udc00"] } }), [
      ["\ud800", ""],
    ]);
    expect(decodeView(search).view.runs).toMatchObject({ filter: "a\ufffdb", group: ["\ufffd"] });
  });
});

describe("text", () => {
  it("of the default is empty, and says only what differs", () => {
    expect(encodeView(DEFAULT_VIEW)).toBe("");
    expect(decodeView("")).toEqual({ view: DEFAULT_VIEW, unknown: [], ignored: [] });
    const view = patchView(DEFAULT_VIEW, {
      runs: { filter: "config.lr < 0.1", hidden: ["a", "b"] },
      charts: {
        xAxis: "train/tokens",
        smoothing: { kind: "ema", amount: 0.9 },
        zoom: { first: 0, last: 1e3 },
      },
      theme: "dark",
    });
    expect(encodeView(view)).toBe(
      "v=1&filter=config.lr+%3C+0.1&hide=a,b&zoom=0..1000&theme=dark&x=train/tokens&smooth=ema:0.9",
    );
  });

  it("of panels is readable", () => {
    const view = patchView(DEFAULT_VIEW, {
      charts: {
        panels: [{ id: "p1", title: "Gap", source: { kind: "expression", text: "train/loss - val/loss" } }],
        overrides: { "train/loss": { yScale: "log" } },
        sizes: { p1: { columns: 2, height: 300 } },
      },
    });
    expect(encodeView(view)).toBe(
      "v=1&panel=p1,Gap,expression,train/loss+-+val/loss&size=p1,2,300&for=train/loss,ys:log",
    );
  });

  it("keeps parameters of others alone, too", () => {
    const { unknown, view } = decodeView("?invite=abc&x=wall&invite=2");
    expect(encodeView(view, unknown)).toBe("v=1&x=wall&invite=abc&invite=2");
  });
});

describe("what is not understood", () => {
  it.each([
    "smooth=ema",
    "smooth=wavelet:0.5",
    "smooth=ema:1.5",
    "smooth=ema:0x1",
    "zoom=5..1",
    "zoom=a..b",
    "zoom=1",
    "zoom=1..Infinity",
    "clip=-1",
    "clip=",
    "clip=NaN",
    "draw=-1",
    "diff=yes",
    "xs=cubic",
    "ys=toString",
    "theme=pink",
    "band=mean",
    "band=mean:std:1:1",
    "x=",
    "panel=",
    "panel=a,b,regex",
    "panel=a,b,constructor,c",
    "size=a,0,5",
    "size=a,2",
    "for=a,nope:1",
    "for=a,ys:cubic",
    "for=a,__proto__:1",
  ])("%s is left at its default and told, the rest is read", (text) => {
    const { view, ignored } = decodeView(`${text}&density=compact`);
    expect(view).toEqual(patchView(DEFAULT_VIEW, { density: "compact" }));
    expect(ignored).toHaveLength(1);
    expect(ignored[0]?.name).toBe(text.split("=")[0]);
    expect(ignored[0]?.reason).not.toBe("");
  });

  it("costs one panel, not all", () => {
    const { view, ignored } = decodeView("panel=a,A,regex,x&panel=broken&panel=b,B,keys,k");
    expect(view.charts.panels.map((panel) => panel.id)).toEqual(["a", "b"]);
    expect(ignored).toHaveLength(1);
  });

  it("of another version is told, and what is known of it is read", () => {
    const { view, ignored, unknown } = decodeView("v=9&x=wall&new=1");
    expect(view.charts.xAxis).toBe("wall");
    expect(ignored).toMatchObject([{ name: "v", value: "9" }]);
    expect(unknown).toEqual([["new", "1"]]);
  });

  it("never throws, whatever comes", () => {
    const random = new Random(21);
    const names = [
      "v",
      "filter",
      "group",
      "smooth",
      "zoom",
      "panel",
      "size",
      "for",
      "band",
      "clip",
      "%",
      "__proto__",
      "constructor",
    ];
    for (let round = 0; round < 2000; round++) {
      const text = random.list(5, () => `${random.pick(names)}=${random.text(12)}`).join("&");
      const { view, unknown } = decodeView(text);
      // What was read is a view that can be written and read again.
      expect(decodeView(encodeView(view, unknown)).view).toEqual(view);
    }
    expect(() => decodeView("%E0%A4%A&x=%zz&=&&==")).not.toThrow();
  });
});
