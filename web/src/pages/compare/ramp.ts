// Colours for numbers and for a few texts. Pure. The ramp is read in both themes, and its lightness rises all along it.

import { COLOURS } from "../../series/palette";
import type { PlotCell } from "./measure";

const STOPS = ["#2b57b8", "#6f54c2", "#ad4aa0", "#d4545a", "#d0780f"] as const;
/** For runs that have no value. */
export const NO_COLOUR = "#8d929e";

/** Return the colour at a place from 0 to 1. */
export function rampColour(share: number): string {
  const place = Math.max(0, Math.min(1, share)) * (STOPS.length - 1);
  const at = Math.min(STOPS.length - 2, Math.floor(place));
  const [from, to] = [channels(STOPS[at] as string), channels(STOPS[at + 1] as string)];
  const mixed = from.map((value, i) => Math.round(value + ((to[i] as number) - value) * (place - at)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export interface Colouring {
  readonly colour: (i: number) => string;
  /** Ends of the ramp, or the colours of texts; for the legend. */
  readonly ends: readonly [number, number] | null;
  readonly texts: readonly { readonly text: string; readonly colour: string }[];
}

/** Return colours by value: numbers along the ramp, texts one each. */
export function colouringOf(cells: readonly PlotCell[]): Colouring {
  const texts = [...new Set(cells.filter((cell) => typeof cell === "string"))].sort();
  if (texts.length > 0) {
    const colours = new Map(texts.map((text, i) => [text, COLOURS[i % COLOURS.length] as string]));
    return {
      colour: (i) => colours.get(String(cells[i])) ?? NO_COLOUR,
      ends: null,
      texts: texts.map((text) => ({ text, colour: colours.get(text) as string })),
    };
  }
  const finite = cells.filter((cell): cell is number => typeof cell === "number" && Number.isFinite(cell));
  if (finite.length === 0) return { colour: () => NO_COLOUR, ends: null, texts: [] };
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  return {
    colour: (i) => {
      const cell = cells[i];
      if (typeof cell !== "number" || !Number.isFinite(cell)) return NO_COLOUR;
      return rampColour(high === low ? 0.5 : (cell - low) / (high - low));
    },
    ends: [low, high],
    texts: [],
  };
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16));
}
