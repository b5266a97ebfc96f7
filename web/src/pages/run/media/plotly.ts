// A Plotly figure as far as lines, points and bars go: what can be drawn without Plotly itself, and what is left out. Pure.

import type { Scale } from "../../../view/state";

export interface PlotTrace {
  readonly name: string;
  readonly kind: "line" | "points" | "both" | "bar";
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** As the figure has it; null for one of ours. */
  readonly colour: string | null;
}

export interface PlotFigure {
  readonly title: string;
  readonly xName: string;
  readonly yName: string;
  readonly xScale: Scale;
  readonly yScale: Scale;
  /** What lies at x = 0, 1, …; null where x is a number. */
  readonly names: readonly string[] | null;
  /** x is seconds since the epoch. */
  readonly isTime: boolean;
  readonly traces: readonly PlotTrace[];
  /** Kinds of traces that are not drawn. */
  readonly missing: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Return the figure; null if nothing of it can be drawn here. */
export function figureOf(json: unknown): PlotFigure | null {
  if (!isRecord(json) || !Array.isArray(json.data)) return null;
  const layout = isRecord(json.layout) ? json.layout : {};
  const missing: string[] = [];
  const raw: { trace: Json; kind: PlotTrace["kind"]; x: readonly unknown[]; y: number[] }[] = [];
  for (const trace of json.data.filter(isRecord)) {
    const type = typeof trace.type === "string" ? trace.type : "scatter";
    const kind = kindOf(type, trace);
    const y = columnOf(trace.y);
    if (kind === null || y === null) {
      missing.push(type);
      continue;
    }
    const x = columnOf(trace.x) ?? y.map((_, i) => i);
    const length = Math.min(x.length, y.length);
    raw.push({ trace, kind, x: x.slice(0, length), y: y.slice(0, length).map(numberOf) });
  }
  if (raw.length === 0) return null;
  const all = raw.flatMap(({ x }) => x);
  const isNumeric = all.every((one) => typeof one === "number" || one === null);
  const isTime = !isNumeric && all.every(isDate);
  const names = isNumeric || isTime ? null : [...new Set(all.map(String))];
  const places = new Map(names?.map((name, place) => [name, place]));
  const placeOf = (one: unknown): number =>
    names !== null
      ? (places.get(String(one)) as number)
      : isTime
        ? Date.parse(String(one)) / 1000
        : numberOf(one);
  return {
    title: titleOf(layout.title),
    xName: titleOf(axisOf(layout, "xaxis").title),
    yName: titleOf(axisOf(layout, "yaxis").title),
    xScale: names === null && axisOf(layout, "xaxis").type === "log" ? "log" : "linear",
    yScale: axisOf(layout, "yaxis").type === "log" ? "log" : "linear",
    names,
    isTime,
    traces: raw.map(({ trace, kind, x, y }, i) => ({
      name: typeof trace.name === "string" ? trace.name : `trace ${i}`,
      kind,
      x: x.map(placeOf),
      y,
      colour: colourOf(trace),
    })),
    missing: [...new Set(missing)],
  };
}

function kindOf(type: string, trace: Json): PlotTrace["kind"] | null {
  // another axis or another way round would need to be drawn differently to be true
  if (trace.yaxis === undefined || trace.yaxis === "y") {
    if (type === "bar" && trace.orientation !== "h") return "bar";
    if (type === "scatter" || type === "scattergl") {
      const mode = typeof trace.mode === "string" ? trace.mode : "lines";
      const hasLines = mode.includes("lines");
      if (mode.includes("markers")) return hasLines ? "both" : "points";
      return "line";
    }
  }
  return null;
}

const KINDS = {
  f8: Float64Array,
  f4: Float32Array,
  i1: Int8Array,
  u1: Uint8Array,
  i2: Int16Array,
  u2: Uint16Array,
  i4: Int32Array,
  u4: Uint32Array,
} as const;

/** A list, or the bytes that Plotly writes of an array; null if it is neither. */
function columnOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (!isRecord(value) || typeof value.bdata !== "string") return null;
  const Kind = KINDS[value.dtype as keyof typeof KINDS];
  if (Kind === undefined) return null;
  const bytes = Uint8Array.from(atob(value.bdata), (letter) => letter.charCodeAt(0));
  if (bytes.length % Kind.BYTES_PER_ELEMENT !== 0) return null;
  return Array.from(new Kind(bytes.buffer));
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : value === null || value === "" ? Number.NaN : Number(value);
}

function isDate(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d/.test(value) && Number.isFinite(Date.parse(value));
}

function titleOf(value: unknown): string {
  const found = isRecord(value) ? value.text : value;
  return typeof found === "string" ? found.replace(/<[^>]*>/g, " ").trim() : "";
}

function axisOf(layout: Json, name: string): Json {
  return isRecord(layout[name]) ? (layout[name] as Json) : {};
}

/** Only what is surely a colour: it goes into an attribute. */
function colourOf(trace: Json): string | null {
  for (const part of [trace.line, trace.marker]) {
    const colour = isRecord(part) ? part.color : undefined;
    if (typeof colour === "string" && /^(#[0-9a-f]{3,8}|rgba?\([\d., %]+\)|[a-z]+)$/i.test(colour))
      return colour;
  }
  return null;
}
