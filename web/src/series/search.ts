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

  /** Return all names that fit, in their own order: for lists that are not ranked, at a fraction of the cost. */
  filter(query: string): Found {
    const text = query.trim();
    if (text === "") return this.search("");
    const pattern = patternOf(text);
    if (pattern !== null) return this.search(text);
    const words = text.toLowerCase().split(/\s+/);
    const names = this.names.filter((_, at) => scoreOf(this.lower[at] as string, words) >= 0);
    return { names, total: names.length, error: null };
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

export interface Section {
  /** What the names have before their first slash; "" for those without. */
  readonly name: string;
  readonly keys: readonly string[];
}

/** Return names in sections by prefix, both in natural order; those without a prefix first. */
export function sectionsOf(names: readonly string[]): Section[] {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const prefix = name.slice(0, Math.max(name.indexOf("/"), 0));
    const keys = found.get(prefix);
    if (keys) keys.push(name);
    else found.set(prefix, [name]);
  }
  return Array.from(found, ([name, keys]) => ({ name, keys: keys.sort(naturalCompare) })).sort((a, b) =>
    naturalCompare(a.name, b.name),
  );
}
