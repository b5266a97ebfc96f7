// Which panels there are, in which sections and order: one for each metric, and those that people made. Pure.

import { type Expression, ExpressionError, keysOf, parseExpression } from "../../../series/expression";
import { naturalCompare } from "../../../series/natural";
import { type Found, patternOf } from "../../../series/search";
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

/** A section, whose panels are made and ordered when they are first looked at: there may be 100,000. */
export class PanelSection {
  #panels: readonly PanelSpec[] | null = null;

  constructor(
    /** Unique, and what `collapsed` has. */
    readonly id: string,
    readonly title: string,
    readonly count: number,
    private readonly make: () => readonly PanelSpec[],
  ) {}

  get panels(): readonly PanelSpec[] {
    this.#panels ??= this.make();
    return this.#panels;
  }
}

export const PINNED = "*pinned";
export const OWN = "*own";
export const FOUND = "*found";
/** More than this are not ranked: nobody looks at the order of so many, and it would be felt. */
const RANKED = 5000;
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
  const found = charts.search.trim() === "" ? null : searched(keys, charts.search);
  let fits: ReadonlySet<string> | null = null;
  const fit = (key: string): boolean => {
    fits ??= new Set(found?.names);
    return fits.has(key);
  };
  const own = charts.panels.map((panel) => ownPanel(panel, keys));
  const pinned = charts.pinned.flatMap((id) => {
    const made = own.find((panel) => panel.id === id);
    return made ? [made] : keys.known.has(id) ? [{ ...metricPanel(id), short: id }] : [];
  });
  const isPinned = new Set(pinned.map((panel) => panel.id));
  const matches = (panel: PanelSpec): boolean => found === null || panel.keys.some(fit);
  const section = (id: string, title: string, panels: readonly PanelSpec[]): PanelSection =>
    new PanelSection(id, title, panels.length, () => inOrder(panels, charts.order));
  const first = [
    section(PINNED, "Pinned", pinned.filter(matches)),
    section(
      OWN,
      "Your panels",
      own.filter((panel) => !isPinned.has(panel.id) && matches(panel)),
    ),
  ];
  const names = (found?.names ?? keys.names).filter((key) => !isPinned.has(key));
  // What was searched for is one section, the best first.
  const rest =
    found === null
      ? metricSections(names, charts.order)
      : [
          new PanelSection(FOUND, "Found", names.length, () =>
            names.map((key) => ({ ...metricPanel(key), short: key })),
          ),
        ];
  return {
    sections: [...first, ...rest].filter((one) => one.count > 0),
    total: found?.total ?? keys.names.length,
    problem: found?.error ?? null,
  };
}

function searched(keys: KnownKeys, text: string): Found {
  const all = keys.index.filter(text);
  return all.total > 0 && all.total <= RANKED ? keys.index.search(text) : all;
}

/** Names by what they have before their first slash, in natural order; those without a prefix first. */
function metricSections(names: readonly string[], order: readonly string[]): PanelSection[] {
  const parts = new Map<string, string[]>();
  for (const name of names) {
    const prefix = name.slice(0, Math.max(name.indexOf("/"), 0));
    const known = parts.get(prefix);
    if (known) known.push(name);
    else parts.set(prefix, [name]);
  }
  return [...parts]
    .sort(([a], [b]) => naturalCompare(a, b))
    .map(([prefix, some]) => {
      const make = () => inOrder(some.sort(naturalCompare).map(metricPanel), order);
      return new PanelSection(prefix, prefix || "Metrics", some.length, make);
    });
}

/** Return panels with those that were given a place before the others, in the order of their places. */
export function inOrder(panels: readonly PanelSpec[], order: readonly string[]): readonly PanelSpec[] {
  if (order.length === 0) return panels;
  const places = new Map(order.map((id, place) => [id, place]));
  if (!panels.some((panel) => places.has(panel.id))) return panels;
  const rank = (panel: PanelSpec): number => places.get(panel.id) ?? Number.POSITIVE_INFINITY;
  return panels
    .map((panel, place) => ({ panel, place }))
    .sort((a, b) => rank(a.panel) - rank(b.panel) || a.place - b.place)
    .map(({ panel }) => panel);
}

/** Return the order after a panel was moved before another (null: to the end) in its section. */
export function movedBefore(
  section: PanelSection,
  id: string,
  before: string | null,
  order: readonly string[],
): string[] {
  const ids = section.panels.map((panel) => panel.id).filter((one) => one !== id);
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
  return {
    id,
    title: search.trim(),
    source: { kind: "keys", keys: [...names].sort(naturalCompare).slice(0, MOST_KEYS) },
  };
}
