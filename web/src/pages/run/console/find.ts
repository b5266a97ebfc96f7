// What is looked for, in the spans of a line. Pure.

import type { AnsiSpan } from "./ansi";

export interface Wanted {
  readonly text: string;
  readonly isRegex: boolean;
  readonly matchCase: boolean;
}

export interface FoundSpan extends AnsiSpan {
  readonly isFound: boolean;
}

/** Return the pattern that marks matches on the page; null where the browser does not read it (the server may). */
export function patternOf({ text, isRegex, matchCase }: Wanted): RegExp | null {
  if (text === "") return null;
  const flags = matchCase ? "gu" : "giu";
  try {
    return new RegExp(isRegex ? text : text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), flags);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Cut spans where matches begin and end; a match may go over several spans. */
export function markFound(spans: readonly AnsiSpan[], pattern: RegExp | null): FoundSpan[] {
  const plain = spans.map((span) => ({ ...span, isFound: false }));
  if (pattern === null) return plain;
  const text = spans.map((span) => span.text).join("");
  const ranges: [number, number][] = [];
  for (const match of text.matchAll(pattern)) {
    if (match[0] !== "") ranges.push([match.index, match.index + match[0].length]);
  }
  if (ranges.length === 0) return plain;
  const found: FoundSpan[] = [];
  let at = 0;
  for (const span of spans) {
    const end = at + span.text.length;
    let from = at;
    for (const [first, last] of ranges) {
      if (last <= from || first >= end) continue;
      if (first > from) found.push({ ...span, text: text.slice(from, first), isFound: false });
      const to = Math.min(last, end);
      found.push({ ...span, text: text.slice(Math.max(from, first), to), isFound: true });
      from = to;
    }
    if (from < end) found.push({ ...span, text: text.slice(from, end), isFound: false });
    at = end;
  }
  return found;
}
