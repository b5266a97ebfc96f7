// Colours and styles of terminal text: SGR sequences become spans, every other control goes. Pure; what comes out is
// data for elements, never markup.

export interface AnsiStyle {
  /** 0 to 15: a named colour of the theme; "#rrggbb": that one; null: the text's own. */
  readonly colour: number | string | null;
  readonly background: number | string | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
  readonly inverse: boolean;
}

export interface AnsiSpan {
  readonly text: string;
  readonly style: AnsiStyle;
}

export const PLAIN: AnsiStyle = {
  colour: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

/** Control sequences (CSI), operating system commands up to their end (OSC), other escapes, other controls but tab. */
const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
  /\x1b\[([0-9:;<=>?]*)[ -/]*([@-~]|$)|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[^[\]]?|[\x00-\x08\x0a-\x1f\x7f]/g;

/** Return the text in pieces of one style each; no piece is empty. */
export function parseAnsi(text: string): AnsiSpan[] {
  if (!text.includes("\x1b")) return plainSpans(text);
  const spans: AnsiSpan[] = [];
  let style = PLAIN;
  let from = 0;
  const push = (piece: string): void => {
    if (!piece) return;
    const last = spans.at(-1);
    if (last?.style === style) spans[spans.length - 1] = { text: last.text + piece, style };
    else spans.push({ text: piece, style });
  };
  for (const found of text.matchAll(CONTROL)) {
    push(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === "m") style = styled(style, found[1] ?? "");
  }
  push(text.slice(from));
  return spans;
}

/** The text without any control. */
export function plainText(text: string): string {
  return text.replace(CONTROL, "");
}

function plainSpans(text: string): AnsiSpan[] {
  const clean = text.replace(CONTROL, "");
  return clean ? [{ text: clean, style: PLAIN }] : [];
}

function styled(before: AnsiStyle, parameters: string): AnsiStyle {
  const style = { ...before };
  // "38:5:208" is one colour with parts; "38;5;208" says the same in several parameters.
  const codes = parameters.split(/[;:]/).map((part) => (part === "" ? 0 : Number(part)));
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 0) Object.assign(style, PLAIN);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4 || code === 21) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 9) style.strike = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code === 29) style.strike = false;
    else if (code >= 30 && code <= 37) style.colour = code - 30;
    else if (code >= 90 && code <= 97) style.colour = code - 82;
    else if (code >= 40 && code <= 47) style.background = code - 40;
    else if (code >= 100 && code <= 107) style.background = code - 92;
    else if (code === 39) style.colour = null;
    else if (code === 49) style.background = null;
    else if (code === 38 || code === 48) {
      const { colour, used } = extended(codes, i + 1);
      if (colour !== null) style[code === 38 ? "colour" : "background"] = colour;
      i += used;
    }
  }
  // Equal styles are the same object, so that their texts are put together.
  return isSame(style, PLAIN) ? PLAIN : isSame(style, before) ? before : style;
}

function isSame(one: AnsiStyle, other: AnsiStyle): boolean {
  return (Object.keys(PLAIN) as (keyof AnsiStyle)[]).every((name) => one[name] === other[name]);
}

/** A colour of 256 (5;n) or of all (2;r;g;b). */
function extended(codes: readonly number[], at: number): { colour: number | string | null; used: number } {
  if (codes[at] === 5) return { colour: indexed(codes[at + 1] ?? 0), used: 2 };
  if (codes[at] === 2) {
    return { colour: hex(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), used: 4 };
  }
  return { colour: null, used: 0 };
}

/** The 256 colours: 16 of the theme, a cube of 6×6×6, 24 greys. */
function indexed(index: number): number | string | null {
  if (!(index >= 0 && index <= 255)) return null;
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return hex(grey, grey, grey);
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function hex(...parts: readonly number[]): string {
  const two = (part: number): string =>
    Math.max(0, Math.min(255, part | 0))
      .toString(16)
      .padStart(2, "0");
  return `#${parts.map(two).join("")}`;
}
