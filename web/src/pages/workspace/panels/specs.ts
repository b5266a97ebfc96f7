// Which panels there are, in which sections and order: one for each metric, and those that people made. Pure.

import { type Expression, ExpressionError, keysOf, parseExpression } from "../../../series/expression";
import { naturalCompare } from "../../../series/natural";
import { patternOf, prefixOf, sectionsOf } from "../../../series/search";
import type { ChartsView, Panel } from "../../../view/state";
import type { KnownKeys } from "../data/keys";

export interface PanelSpec {
  readonly id: string;
  readonly title: string;
  /** What the section's name leaves to be said. */
  readonly short: string;
  readonly keys: readonly string[];
  readonly expression: Expression | null;
  /** What is wrong with what it should show. */
  readonly problem: string | null;
  /** The panel that a person made, null for that of a metric. */
  readonly own: Panel | null;
}

/** A section, which is ordered when it is first looked at and whose panels are made as they are shown: there may be 100,000. */
export class PanelSection {
  #ids: readonly string[] | null = null;
  readonly #made: PanelSpec[] = [];

  constructor(
    /** Unique, and what `collapsed` has. */
    readonly id: string,
    readonly title: string,
    readonly count: number,
    private readonly order: () => readonly string[],
    private readonly make: (id: string) => PanelSpec,
  ) {}

  /** The ids of all its panels, in order. */
  get ids(): readonly string[] {
    this.#ids ??= this.order();
    return this.#ids;
  }

  /** Return the first of its panels, always the same ones. */
  first(most: number): readonly PanelSpec[] {
    for (const id of this.ids.slice(this.#made.length, most)) this.#made.push(this.make(id));
    return this.#made.slice(0, most);
  }
}

export const PINNED = "*pinned";
export const OWN = "*own";
export const FOUND = "*found";
/** Keys that a pattern finds and one panel draws; the rest is told. */
export const MOST_KEYS = 20;

export interface FoundPanels {
  readonly sections: readonly PanelSection[];
  /** How many metrics fit the search. */
  readonly total: number;
  readonly problem: string | null;
}

export function metricPanel(key: string): PanelSpec {
  const slash = key.indexOf("/");
  return {
    id: key,
    title: key,
    short: key.slice(slash + 1),
    keys: [key],
    expression: null,
    problem: null,
    own: null,
  };
}

/** The panel of a metric outside of its section. */
function wholeNamed(key: string): PanelSpec {
  return { ...metricPanel(key), short: key };
}

/** Return the panel that a person made; patterns find the keys that there are now. */
export function ownPanel(panel: Panel, keys: KnownKeys): PanelSpec {
  const spec = { id: panel.id, own: panel, expression: null, problem: null };
  switch (panel.source.kind) {
    case "keys": {
      const title = panel.title || panel.source.keys.join(", ");
      return { ...spec, title, short: title, keys: panel.source.keys };
    }
    case "regex": {
      const { pattern } = panel.source;
      const title = panel.title || `/${pattern}/`;
      const found = patternOf(`/${pattern}/`);
      const problem = typeof found === "string" ? found : null;
      const names =
        found instanceof RegExp ? keys.names.filter((name) => found.test(name)).sort(naturalCompare) : [];
      const cut = names.slice(0, MOST_KEYS);
      const told = cut.length < names.length ? ` (${cut.length} of ${names.length} metrics)` : "";
      return { ...spec, title: title + told, short: title + told, keys: cut, problem };
    }
    case "expression": {
      const title = panel.title || panel.source.text;
      try {
        const expression = parseExpression(panel.source.text);
        return { ...spec, title, short: title, keys: keysOf(expression), expression };
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        return { ...spec, title, short: title, keys: [], problem: error.message };
      }
    }
  }
}

/** Return all sections: pinned panels, those that people made, then metrics by prefix. */
export function panelsOf(keys: KnownKeys, charts: ChartsView): FoundPanels {
  const found = charts.search.trim() === "" ? null : keys.index.search(charts.search);
  let fits: ReadonlySet<string> | null = null;
  const fit = (key: string): boolean => {
    fits ??= new Set(found?.names);
    return fits.has(key);
  };
  const own = charts.panels.map((panel) => ownPanel(panel, keys));
  const pinned = charts.pinned.flatMap((id) => {
    const made = own.find((panel) => panel.id === id);
    return made ? [made] : keys.known.has(id) ? [wholeNamed(id)] : [];
  });
  const isPinned = new Set(pinned.map((panel) => panel.id));
  const matches = (panel: PanelSpec): boolean => found === null || panel.keys.some(fit);
  const section = (id: string, title: string, panels: readonly PanelSpec[]): PanelSection => {
    const byId = new Map(panels.map((panel) => [panel.id, panel]));
    const order = () => inOrder([...byId.keys()], charts.order);
    return new PanelSection(id, title, byId.size, order, (one) => byId.get(one) as PanelSpec);
  };
  const first = [
    section(PINNED, "Pinned", pinned.filter(matches)),
    section(
      OWN,
      "Your panels",
      own.filter((panel) => !isPinned.has(panel.id) && matches(panel)),
    ),
  ];
  const rest =
    found === null ? metricSections(keys, isPinned, charts.order) : [foundSection(found.names, isPinned)];
  return {
    sections: [...first, ...rest].filter((one) => one.count > 0),
    total: found?.total ?? keys.names.length,
    problem: found?.error ?? null,
  };
}

/** What was searched for is one section, the best first. */
function foundSection(found: readonly string[], isPinned: ReadonlySet<string>): PanelSection {
  const names = isPinned.size === 0 ? found : found.filter((name) => !isPinned.has(name));
  return new PanelSection(FOUND, "Found", names.length, () => names, wholeNamed);
}

/** Metrics by prefix, without those that are pinned. */
function metricSections(
  keys: KnownKeys,
  isPinned: ReadonlySet<string>,
  order: readonly string[],
): PanelSection[] {
  const away = new Map<string, number>();
  for (const id of isPinned) {
    if (keys.known.has(id)) away.set(prefixOf(id), (away.get(prefixOf(id)) ?? 0) + 1);
  }
  return sectionsOf(keys.names).map((section) => {
    const { prefix } = section;
    const without = away.get(prefix) ?? 0;
    const ids = (): readonly string[] => {
      const { names } = section;
      return inOrder(without === 0 ? names : names.filter((name) => !isPinned.has(name)), order);
    };
    return new PanelSection(prefix, prefix || "Metrics", section.size - without, ids, metricPanel);
  });
}

/** Return ids with those that were given a place before the others, in the order of their places. */
export function inOrder(ids: readonly string[], order: readonly string[]): readonly string[] {
  if (order.length === 0) return ids;
  const places = new Map(order.map((id, place) => [id, place]));
  if (!ids.some((id) => places.has(id))) return ids;
  const placed = ids.filter((id) => places.has(id));
  placed.sort((a, b) => (places.get(a) as number) - (places.get(b) as number));
  return [...placed, ...ids.filter((id) => !places.has(id))];
}

/** Return the order after a panel was moved before another (null: to the end) in its section. */
export function movedBefore(
  section: PanelSection,
  id: string,
  before: string | null,
  order: readonly string[],
): string[] {
  const ids = section.ids.filter((one) => one !== id);
  const place = before === null ? ids.length : ids.indexOf(before);
  ids.splice(place < 0 ? ids.length : place, 0, id);
  const own = new Set(ids);
  return [...order.filter((one) => !own.has(one)), ...ids];
}

/** Return an id that no panel has yet. */
export function freeId(panels: readonly Panel[]): string {
  let n = panels.length + 1;
  while (panels.some((panel) => panel.id === `p${n}`)) n++;
  return `p${n}`;
}

/** Return the panel that a search for metrics is, so that it stays and takes in new metrics. */
export function panelOfSearch(search: string, names: readonly string[], id: string): Panel {
  const pattern = /^\/(.*)\/i?$/s.exec(search.trim())?.[1];
  if (pattern) return { id, title: "", source: { kind: "regex", pattern } };
  const keys = [...names].sort(naturalCompare).slice(0, MOST_KEYS);
  const told = keys.length < names.length ? ` (${keys.length} of ${names.length} metrics)` : "";
  return { id, title: search.trim() + told, source: { kind: "keys", keys } };
}
