// ViewState: everything a person chose about a workspace, as one plain value. The address bar carries it (codec.ts),
// a saved view is its text. Lists and texts only: nothing here knows runs, requests or pixels of a screen.

export const SCALES = ["linear", "log", "symlog"] as const;
export const SMOOTHINGS = ["none", "ema", "gaussian", "window", "median", "min", "max"] as const;
export const CENTERS = ["mean", "median"] as const;
export const BANDS = ["none", "std", "sem", "ci", "minmax", "percentile"] as const;
export const THEMES = ["system", "light", "dark"] as const;
export const DENSITIES = ["comfortable", "compact"] as const;

export type Scale = (typeof SCALES)[number];
export type SmoothingKind = (typeof SMOOTHINGS)[number];
export type Center = (typeof CENTERS)[number];
export type Band = (typeof BANDS)[number];
export type Theme = (typeof THEMES)[number];
export type Density = (typeof DENSITIES)[number];

/** `amount`: 0 to 1 for all kinds, 0 is none; what it means for each is in series/smooth.ts. */
export interface Smoothing {
  readonly kind: SmoothingKind;
  readonly amount: number;
}

export interface Zoom {
  readonly first: number;
  readonly last: number;
}

/** How the runs of a group become one line. */
export interface Aggregate {
  readonly center: Center;
  readonly band: Band;
  /** Draw the members faintly too. */
  readonly members: boolean;
}

/** What may be set for all panels and for one. */
export interface ChartOptions {
  /** "step", "relative", "wall", or the name of a logged key: see `axisKey`. */
  readonly xAxis: string;
  readonly xScale: Scale;
  readonly yScale: Scale;
  /** Metrics that the y axis on the right measures, see `rightMetric`; a panel that lacks one draws it too. */
  readonly right: readonly string[];
  readonly rightScale: Scale;
  readonly smoothing: Smoothing;
  /** Percent of the values beyond which the y axis is cut at each end; 0 shows all. */
  readonly clip: number;
  readonly aggregate: Aggregate;
  /** Draw what lies between each run and the baseline. */
  readonly difference: boolean;
}

export type PanelSource =
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  | { readonly kind: "regex"; readonly pattern: string }
  | { readonly kind: "expression"; readonly text: string };

/** A panel that a person made; panels of single metrics come by themselves, and their id is the metric's name. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly source: PanelSource;
}

/** Columns of the grid that a panel is wide, and pixels that it is high. */
export interface PanelSize {
  readonly columns: number;
  readonly height: number;
}

export interface RunsView {
  /** Filter text, see filter/. */
  readonly filter: string;
  /** A field, with "-" before it for the greatest first. */
  readonly sort: string;
  readonly group: readonly string[];
  /** Runs whose eye is off. */
  readonly hidden: readonly string[];
  /** If any, only these are drawn. */
  readonly shownOnly: readonly string[];
  readonly pinned: readonly string[];
  readonly baseline: string | null;
  /** How many runs are drawn at most; 0 draws all. */
  readonly draw: number;
  /** Columns of the table; empty means those that the page picks. */
  readonly columns: readonly string[];
  /** The metric drawn small beside each run. */
  readonly sparkline: string | null;
  readonly selected: readonly string[];
}

export interface ChartsView extends ChartOptions {
  readonly search: string;
  readonly zoom: Zoom | null;
  readonly panels: readonly Panel[];
  /** By panel id: what differs from the options of all. */
  readonly overrides: Readonly<Record<string, Partial<ChartOptions>>>;
  /** Panel ids in the order that a person gave them; the others follow. */
  readonly order: readonly string[];
  readonly sizes: Readonly<Record<string, PanelSize>>;
  readonly pinned: readonly string[];
  /** Names of sections. */
  readonly collapsed: readonly string[];
  /** A panel's id. */
  readonly fullScreen: string | null;
}

export interface ViewState {
  readonly runs: RunsView;
  readonly charts: ChartsView;
  readonly theme: Theme;
  readonly density: Density;
}

export const DEFAULT_VIEW: ViewState = {
  runs: {
    filter: "",
    sort: "-created_at",
    group: [],
    hidden: [],
    shownOnly: [],
    pinned: [],
    baseline: null,
    draw: 20,
    columns: [],
    sparkline: null,
    selected: [],
  },
  charts: {
    search: "",
    xAxis: "step",
    xScale: "linear",
    yScale: "linear",
    right: [],
    rightScale: "linear",
    smoothing: { kind: "none", amount: 0 },
    clip: 0,
    aggregate: { center: "mean", band: "std", members: false },
    difference: false,
    zoom: null,
    panels: [],
    overrides: {},
    order: [],
    sizes: {},
    pinned: [],
    collapsed: [],
    fullScreen: null,
  },
  theme: "system",
  density: "comfortable",
};

/** What changes: whole fields of each part. */
export interface ViewPatch {
  readonly runs?: Partial<RunsView>;
  readonly charts?: Partial<ChartsView>;
  readonly theme?: Theme;
  readonly density?: Density;
}

/** Return the view with a patch applied. */
export function patchView(view: ViewState, patch: ViewPatch): ViewState {
  return {
    runs: patch.runs ? { ...view.runs, ...patch.runs } : view.runs,
    charts: patch.charts ? { ...view.charts, ...patch.charts } : view.charts,
    theme: patch.theme ?? view.theme,
    density: patch.density ?? view.density,
  };
}

/** Return the options of one panel: those of all, with its own in their place. */
export function panelOptions(charts: ChartsView, id: string): ChartOptions {
  const { xAxis, xScale, yScale, right, rightScale, smoothing, clip, aggregate, difference } = charts;
  const all = { xAxis, xScale, yScale, right, rightScale, smoothing, clip, aggregate, difference };
  return { ...all, ...charts.overrides[id] };
}

/** Return the logged key that an x axis names, null for the three built in; "key:step" is a key named step. */
export function axisKey(xAxis: string): string | null {
  if (xAxis === "step" || xAxis === "relative" || xAxis === "wall") return null;
  return xAxis.startsWith("key:") ? xAxis.slice(4) : xAxis;
}

/** Return the x axis of a logged key. */
export function axisOfKey(key: string): string {
  return axisKey(key) === key ? key : `key:${key}`;
}

export interface RightMetric {
  readonly key: string;
  /** A sample of the system, not something that was logged. */
  readonly isSystem: boolean;
}

const SYSTEM = "system:";
const KEY = "key:";

/** Return what an entry of the right axis names: "acc", a sample as "system:cpu"; "key:system:cpu" was logged. */
export function rightMetric(entry: string): RightMetric {
  if (entry.startsWith(SYSTEM)) return { key: entry.slice(SYSTEM.length), isSystem: true };
  return { key: entry.startsWith(KEY) ? entry.slice(KEY.length) : entry, isSystem: false };
}

/** Return the entry of a metric. */
export function rightEntry({ key, isSystem }: RightMetric): string {
  if (isSystem) return SYSTEM + key;
  return key.startsWith(SYSTEM) || key.startsWith(KEY) ? KEY + key : key;
}
