// Colours that a program chose for a dark terminal, made readable on both themes: as near as possible to what it chose.
// Pure.

import { contrast } from "../../../series/palette";

/** What text stands on, at its worst: a marked line in light and in dark. */
const LIGHT = "#f6e9ea";
const DARK = "#2a2226";
/** WCAG AA. */
const ENOUGH = 4.5;
const STEP = 0.05;

const known = new Map<string, string>();

/** Return a CSS colour for text that has enough contrast whichever the theme is. */
export function readable(colour: string): string {
  let css = known.get(colour);
  if (css === undefined) {
    css = `light-dark(${towards(colour, "#000000", LIGHT)}, ${towards(colour, "#ffffff", DARK)})`;
    known.set(colour, css);
  }
  return css;
}

/** Mix in as much of the end as the contrast needs. */
export function towards(colour: string, end: string, background: string): string {
  for (let share = 0; share < 1; share += STEP) {
    const mixed = mix(colour, end, share);
    if (contrast(mixed, background) >= ENOUGH) return mixed;
  }
  return end;
}

function mix(one: string, other: string, share: number): string {
  const part = (from: number): string => {
    const [a, b] = [one, other].map((colour) => Number.parseInt(colour.slice(from, from + 2), 16)) as [
      number,
      number,
    ];
    return Math.round(a + (b - a) * share)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(1)}${part(3)}${part(5)}`;
}
