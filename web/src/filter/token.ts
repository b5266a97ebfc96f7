// The words of a filter: names, numbers, texts in quotes, signs. Never fails: a quote that is not closed is a token that says so.

export type TokenKind = "word" | "text" | "field" | "sign";

export interface Token {
  readonly kind: TokenKind;
  /** What it says: without quotes and backslashes. */
  readonly text: string;
  readonly at: number;
  readonly end: number;
  /** False for a quote without its end. */
  readonly isClosed: boolean;
}

const SIGN = /==|!=|<=|>=|!~|=~|[=<>~()[\],]|!/y;
/** What a metric came to: `min(train/loss)`. A name with spaces or brackets needs backticks around the whole. */
const FIGURE = /(?:min|max|mean|first|last)\([^\s()]+\)/y;
const WORD = /[^\s()[\],=<>~!"'`]+/y;

/** `"…"` and `'…'` are texts; backticks hold a field's name of any letters. */
const QUOTES: Readonly<Record<string, TokenKind>> = { '"': "text", "'": "text", "`": "field" };

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    if (/\s/.test(character)) {
      at++;
      continue;
    }
    const quoted = QUOTES[character];
    const token = quoted ? quotedToken(text, at, character, quoted) : plainToken(text, at);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function plainToken(text: string, at: number): Token {
  for (const [kind, pattern] of [
    ["field", FIGURE],
    ["sign", SIGN],
    ["word", WORD],
  ] as const) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return { kind, text: found, at, end: at + found.length, isClosed: true };
  }
  throw new Error(`no token at ${at} of ${text}`); // not reached: SIGN and WORD cover every character
}

function quotedToken(text: string, at: number, quote: string, kind: TokenKind): Token {
  let said = "";
  let end = at + 1;
  for (; end < text.length; end++) {
    const character = text[end] as string;
    if (character === quote) return { kind, text: said, at, end: end + 1, isClosed: true };
    // Only a quote and a backslash need one, so that patterns such as "\d+" can be written as they are.
    const next = text[end + 1];
    if (character === "\\" && (next === quote || next === "\\")) {
      said += next;
      end++;
    } else said += character;
  }
  return { kind, text: said, at, end, isClosed: false };
}

const NUMBER = /^[+-]?(\d+(_\d+)*\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Return the number that a word is, undefined if it is none. */
export function numberOf(word: string): number | undefined {
  if (NUMBER.test(word)) return Number(word.replace(/_/g, ""));
  switch (word.toLowerCase()) {
    case "nan":
      return Number.NaN;
    case "inf":
    case "+inf":
    case "infinity":
      return Number.POSITIVE_INFINITY;
    case "-inf":
    case "-infinity":
      return Number.NEGATIVE_INFINITY;
    default:
      return undefined;
  }
}

const KEYWORDS = ["and", "or", "not", "in", "has", "exists", "true", "false", "null", "none", "&&", "||"];

export function isKeyword(word: string): boolean {
  return KEYWORDS.includes(word.toLowerCase());
}

/** Tell whether a text can be written without quotes and still be read as this text. */
export function isPlainWord(text: string): boolean {
  WORD.lastIndex = 0;
  return WORD.exec(text)?.[0] === text && !isKeyword(text) && numberOf(text) === undefined;
}

/** Return a field's name as it is written: in backticks, unless it needs none. */
export function fieldText(name: string): string {
  FIGURE.lastIndex = 0;
  return isPlainWord(name) || FIGURE.exec(name)?.[0] === name ? name : quoted(name, "`");
}

export function quoted(text: string, quote = '"'): string {
  let out = quote;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    out += character === quote || character === "\\" ? `\\${character}` : character;
  }
  return out + quote;
}
