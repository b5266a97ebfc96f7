// Which fields of the view the address carries, under which name, and as which text.

import {
  anyText,
  flag,
  list,
  numberWithin,
  oneOf,
  optionalText,
  readList,
  readNumber,
  type TextOf,
  writeList,
} from "./field";
import {
  type Aggregate,
  BANDS,
  CENTERS,
  type ChartOptions,
  type ChartsView,
  DENSITIES,
  type Panel,
  type PanelSize,
  SCALES,
  SMOOTHINGS,
  type Smoothing,
  THEMES,
  type ViewState,
  type Zoom,
} from "./state";

/** A part of the view and its key, or null for the part itself. */
export type Place = readonly [part: keyof ViewState, key: string | null];

export interface Field {
  readonly place: Place;
  // biome-ignore lint/suspicious/noExplicitAny: a table of fields of different types; each entry pairs its own two
  readonly text: TextOf<any>;
}

/** "ema:0.9" */
const smoothing: TextOf<Smoothing> = {
  write: ({ kind, amount }) => (kind === "none" && amount === 0 ? "none" : `${kind}:${amount}`),
  read: (text) => {
    if (text === "none") return { kind: "none", amount: 0 };
    const [name = "", amountText = ""] = text.split(":", 2);
    const kind = oneOf(SMOOTHINGS).read(name);
    const amount = numberWithin(0, 1).read(amountText);
    return kind === undefined || amount === undefined ? undefined : { kind, amount };
  },
};

/** "median:ci:1": center, band, whether the members are drawn too. */
const aggregate: TextOf<Aggregate> = {
  write: ({ center, band, members }) => `${center}:${band}${members ? ":1" : ""}`,
  read: (text) => {
    const parts = text.split(":");
    const center = oneOf(CENTERS).read(parts[0] ?? "");
    const band = oneOf(BANDS).read(parts[1] ?? "");
    const members = flag.read(parts[2] ?? "0");
    if (center === undefined || band === undefined || members === undefined || parts.length > 3)
      return undefined;
    return { center, band, members };
  },
};

/** "100..2000" */
const zoom: TextOf<Zoom | null> = {
  write: (value) => (value === null ? "" : `${value.first}..${value.last}`),
  read: (text) => {
    if (text === "") return null;
    const [first, last] = text.split("..").map(readNumber);
    return first === undefined || last === undefined || !(first < last) ? undefined : { first, last };
  },
};

const nonEmptyText: TextOf<string> = {
  write: anyText.write,
  read: (text) => (text === "" ? undefined : text),
};

/** What all panels and each panel may have. */
export const OPTION_FIELDS: Readonly<Record<string, Field>> = {
  x: { place: ["charts", "xAxis"], text: nonEmptyText },
  xs: { place: ["charts", "xScale"], text: oneOf(SCALES) },
  ys: { place: ["charts", "yScale"], text: oneOf(SCALES) },
  y2: { place: ["charts", "right"], text: list },
  y2s: { place: ["charts", "rightScale"], text: oneOf(SCALES) },
  smooth: { place: ["charts", "smoothing"], text: smoothing },
  clip: { place: ["charts", "clip"], text: numberWithin(0, 49) },
  band: { place: ["charts", "aggregate"], text: aggregate },
  diff: { place: ["charts", "difference"], text: flag },
};

export const FIELDS: Readonly<Record<string, Field>> = {
  filter: { place: ["runs", "filter"], text: anyText },
  sort: { place: ["runs", "sort"], text: anyText },
  group: { place: ["runs", "group"], text: list },
  hide: { place: ["runs", "hidden"], text: list },
  only: { place: ["runs", "shownOnly"], text: list },
  pin: { place: ["runs", "pinned"], text: list },
  base: { place: ["runs", "baseline"], text: optionalText },
  draw: { place: ["runs", "draw"], text: numberWithin(0, 1e6) },
  cols: { place: ["runs", "columns"], text: list },
  spark: { place: ["runs", "sparkline"], text: optionalText },
  sel: { place: ["runs", "selected"], text: list },
  q: { place: ["charts", "search"], text: anyText },
  zoom: { place: ["charts", "zoom"], text: zoom },
  order: { place: ["charts", "order"], text: list },
  pinned: { place: ["charts", "pinned"], text: list },
  closed: { place: ["charts", "collapsed"], text: list },
  full: { place: ["charts", "fullScreen"], text: optionalText },
  theme: { place: ["theme", null], text: oneOf(THEMES) },
  density: { place: ["density", null], text: oneOf(DENSITIES) },
};

export interface Refused {
  readonly value: string;
  readonly reason: string;
}

/** A field that is written as one parameter for each of its entries. */
export interface RepeatedField {
  readonly write: (charts: ChartsView) => string[];
  readonly read: (texts: readonly string[]) => { patch: Partial<ChartsView>; refused: Refused[] };
}

export const REPEATED: Readonly<Record<string, RepeatedField>> = {
  /** panel=id,title,kind,text… */
  panel: {
    write: (charts) => charts.panels.map(writePanel),
    read: (texts) => {
      const { entries, refused } = readEach(
        texts,
        readPanel,
        "a panel is id,title,keys|regex|expression,text",
      );
      return { patch: { panels: entries }, refused };
    },
  },
  /** size=id,columns,height */
  size: {
    write: (charts) =>
      Object.entries(charts.sizes).map(([id, { columns, height }]) =>
        writeList([id, `${columns}`, `${height}`]),
      ),
    read: (texts) => {
      const { entries, refused } = readEach(texts, readSize, "a size is id,columns,height");
      return { patch: { sizes: Object.fromEntries(entries) }, refused };
    },
  },
  /** for=id,name:text,… with the names of OPTION_FIELDS */
  for: {
    write: (charts) => Object.entries(charts.overrides).map(([id, options]) => writeOverride(id, options)),
    read: (texts) => {
      const { entries, refused } = readEach(texts, readOverride, "options of a panel are id,name:value,…");
      return { patch: { overrides: Object.fromEntries(entries) }, refused };
    },
  },
};

function readEach<T>(texts: readonly string[], read: (items: string[]) => T | undefined, reason: string) {
  const entries: T[] = [];
  const refused: Refused[] = [];
  for (const value of texts) {
    const entry = read(readList(value));
    if (entry === undefined) refused.push({ value, reason });
    else entries.push(entry);
  }
  return { entries, refused };
}

function writePanel({ id, title, source }: Panel): string {
  const rest =
    source.kind === "keys" ? source.keys : [source.kind === "regex" ? source.pattern : source.text];
  return writeList([id, title, source.kind, ...rest]);
}

function readPanel([id, title, kind, ...rest]: string[]): Panel | undefined {
  if (!id || title === undefined) return undefined;
  if (kind === "keys") return { id, title, source: { kind, keys: rest } };
  if (rest.length !== 1) return undefined;
  if (kind === "regex") return { id, title, source: { kind, pattern: rest[0] as string } };
  if (kind === "expression") return { id, title, source: { kind, text: rest[0] as string } };
  return undefined;
}

function readSize([id, columnsText, heightText]: string[]): [string, PanelSize] | undefined {
  const columns = numberWithin(1, 100).read(columnsText ?? "");
  const height = numberWithin(1, 100_000).read(heightText ?? "");
  return !id || columns === undefined || height === undefined ? undefined : [id, { columns, height }];
}

function writeOverride(id: string, options: Partial<ChartOptions>): string {
  const items = [id];
  for (const [name, { place, text }] of Object.entries(OPTION_FIELDS)) {
    const value = options[place[1] as keyof ChartOptions];
    if (value !== undefined) items.push(`${name}:${text.write(value)}`);
  }
  return writeList(items);
}

function readOverride([id, ...items]: string[]): [string, Partial<ChartOptions>] | undefined {
  if (!id) return undefined;
  const options: Record<string, unknown> = {};
  for (const item of items) {
    const cut = item.indexOf(":");
    const field = Object.hasOwn(OPTION_FIELDS, item.slice(0, cut))
      ? OPTION_FIELDS[item.slice(0, cut)]
      : undefined;
    const value = field?.text.read(item.slice(cut + 1));
    if (field === undefined || value === undefined) return undefined;
    options[field.place[1] as string] = value;
  }
  return [id, options];
}
