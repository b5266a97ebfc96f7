// Finding metrics among 100,000 names as a person types: words in any order (letters of a word may be apart), or /regex/.
// And the names as sections by prefix, in natural order.

import { naturalCompare } from "./natural";

export interface Found {
  /** The best first; at most as many as asked for. */
  readonly names: readonly string[];
  /** How many there are in all. */
  readonly total: number;
  /** What is wrong with the pattern, or null. */
  readonly error: string | null;
}

/** Names prepared once, searched often. */
export class NameIndex {
  private readonly lower: readonly string[];

  constructor(readonly names: readonly string[]) {
    this.lower = names.map((name) => name.toLowerCase());
  }

  search(query: string, limit = Number.POSITIVE_INFINITY): Found {
    const text = query.trim();
    if (text === "") return { names: this.names.slice(0, limit), total: this.names.length, error: null };
    const pattern = patternOf(text);
    if (pattern === null) return this.fuzzy(text.toLowerCase().split(/\s+/), limit);
    return typeof pattern === "string"
      ? { names: [], total: 0, error: pattern }
      : this.matching(pattern, limit);
  }

  private matching(pattern: RegExp, limit: number): Found {
    const names: string[] = [];
    let total = 0;
    for (const name of this.names) {
      if (!pattern.test(name)) continue;
      if (total++ < limit) names.push(name);
    }
    return { names, total, error: null };
  }

  private fuzzy(words: readonly string[], limit: number): Found {
    // Score and place as one number: numbers alone are sorted many times as fast as objects.
    const { length } = this.lower;
    const hits = new Float64Array(length);
    let total = 0;
    for (let at = 0; at < length; at++) {
      const score = scoreOf(this.lower[at] as string, words);
      if (score >= 0) hits[total++] = score * length + at;
    }
    const best = hits.subarray(0, total).sort().subarray(0, Math.min(limit, total));
    const names = Array.from(best, (hit) => this.names[hit % length] as string);
    return { names, total, error: null };
  }
}

/** Return the pattern that a query is: /.../ with i if it wants; null if it is words, a message if it is broken. */
export function patternOf(query: string): RegExp | string | null {
  const parts = /^\/(.*)\/(i?)$/s.exec(query) ?? /^\/(.+)()$/s.exec(query);
  if (parts === null || parts[1] === "") return null;
  try {
    return new RegExp(parts[1] as string, parts[2]);
  } catch (error) {
    return `not a regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, "")}`;
  }
}

/** Return how far a name is from words, 0 the nearest; -1 if it does not fit. */
function scoreOf(name: string, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const place = name.indexOf(word);
    const cost = place >= 0 ? placeCost(name, word, place) : scatteredCost(name, word);
    if (cost < 0) return -1;
    score += cost;
  }
  return score * 1000 + Math.min(name.length, 999);
}

/** A word as it is: best as the whole last part, then at the start of a part, then anywhere. */
function placeCost(name: string, word: string, place: number): number {
  const last = name.length - word.length;
  const at = name.endsWith(word) && startsPart(name, last) ? last : place;
  if (!startsPart(name, at)) return 3;
  return at === last ? 0 : 1;
}

function startsPart(name: string, at: number): boolean {
  if (at === 0) return true;
  const before = name.charCodeAt(at - 1);
  return before === 47 || before === 46 || before === 95 || before === 45 || before === 32;
}

/** Letters in order but apart: the wider they lie, the worse; -1 if they are not all there. */
function scatteredCost(name: string, word: string): number {
  let at = -1;
  let first = -1;
  for (let i = 0; i < word.length; i++) {
    at = name.indexOf(word[i] as string, at + 1);
    if (at < 0) return -1;
    if (first < 0) first = at;
  }
  return 10 + (at - first + 1 - word.length);
}

/** Names with one prefix (what they have before their first slash, "" for those without one). */
export class Section {
  #isSorted = false;

  constructor(
    readonly prefix: string,
    private readonly some: string[],
  ) {}

  get size(): number {
    return this.some.length;
  }

  /** In natural order; put into it when they are first looked at, because there may be very many. */
  get names(): readonly string[] {
    if (!this.#isSorted) this.some.sort(naturalCompare);
    this.#isSorted = true;
    return this.some;
  }
}

const known = new WeakMap<readonly string[], readonly Section[]>();

export function prefixOf(name: string): string {
  return name.slice(0, Math.max(name.indexOf("/"), 0));
}

/** Return names in sections by prefix, these in natural order; for the same names always the same. */
export function sectionsOf(names: readonly string[]): readonly Section[] {
  let sections = known.get(names);
  if (sections === undefined) {
    const found = new Map<string, string[]>();
    for (const name of names) {
      const prefix = prefixOf(name);
      const some = found.get(prefix);
      if (some) some.push(name);
      else found.set(prefix, [name]);
    }
    sections = Array.from(found, ([prefix, some]) => new Section(prefix, some)).sort((a, b) =>
      naturalCompare(a.prefix, b.prefix),
    );
    known.set(names, sections);
  }
  return sections;
}
