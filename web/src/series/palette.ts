// Colours of runs: 24 that stand out by at least 3:1 from both page backgrounds (#ffffff and #101418), chosen one after the
// other as far as possible from those before, for full colour vision and for both red-green deficiencies. One list serves
// light and dark, so a run keeps its colour when the theme changes. The first eight are told apart by everybody; beyond
// that dashes help.

export const COLOURS = [
  "#3282d2",
  "#f05a00",
  "#a04678",
  "#50a078",
  "#a05000",
  "#968cb4",
  "#6450d2",
  "#82785a",
  "#00a01e",
  "#1e6e96",
  "#8c82fa",
  "#be50be",
  "#f05aa0",
  "#466e46",
  "#be825a",
  "#646ef0",
  "#966e82",
  "#9646b4",
  "#6496d2",
  "#b43296",
  "#aa4646",
  "#649696",
  "#dc3c5a",
  "#fa5a78",
] as const;

/** Dash patterns in pixels; the first is a solid line. */
export const DASHES: readonly (readonly number[])[] = [
  [],
  [7, 3],
  [2, 3],
  [9, 3, 2, 3],
  [12, 4],
  [5, 2, 1, 2, 1, 2],
];

/** Colours of run states, told by a word and a shape too. */
export const STATE_COLOURS: Readonly<Record<string, string>> = {
  running: "#3282d2",
  finished: "#2e8b57",
  failed: "#dc3c5a",
  crashed: "#dc3c5a",
  killed: "#b06a00",
  preempted: "#8a6fd0",
  pending: "#7c8591",
};

const UNKNOWN_STATE = "#7c8591";

export function stateColour(state: string): string {
  return Object.hasOwn(STATE_COLOURS, state) ? (STATE_COLOURS[state] as string) : UNKNOWN_STATE;
}

/** A number of 32 bits from a text (FNV-1a, mixed once more): the same today, tomorrow, and in Python. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** The colour of a run, by its id alone. */
export function runColour(id: string): string {
  return COLOURS[hashOf(id) % COLOURS.length] as string;
}

export interface RunStyle {
  readonly colour: string;
  readonly dash: readonly number[];
}

/** Return colours and dashes: colours by id alone, a dash only for those that share a colour with another shown run. */
export function runStyles(ids: readonly string[]): Map<string, RunStyle> {
  const styles = new Map<string, RunStyle>();
  const used = new Map<string, number>();
  // By hash, so that the order of the list does not change who is dashed.
  const inOrder = Array.from(new Set(ids)).sort((a, b) => hashOf(a) - hashOf(b) || (a < b ? -1 : 1));
  for (const id of inOrder) {
    const colour = runColour(id);
    const before = used.get(colour) ?? 0;
    used.set(colour, before + 1);
    styles.set(id, { colour, dash: DASHES[before % DASHES.length] as readonly number[] });
  }
  return styles;
}

/** The contrast of two colours (#rrggbb) as WCAG defines it, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: string): number {
  const channel = (from: number): number => {
    const share = Number.parseInt(colour.slice(from, from + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
