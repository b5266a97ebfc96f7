// Colours and fonts for canvases, which know no CSS: read from the page's variables through an element, because a
// variable's own text may be light-dark(...). One signal; whoever draws redraws when it changes.

import { type ReadonlySignal, signal } from "@preact/signals";

export interface ChartTheme {
  readonly surface: string;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly axis: string;
  readonly font: string;
  /** Turn any CSS colour, also var(--x) and light-dark(), into one that a canvas understands. */
  readonly colourOf: (colour: string) => string;
}

/** For a place without a page (tests, workers): the light theme. */
export const PLAIN: ChartTheme = {
  surface: "#ffffff",
  text: "#1b1f24",
  muted: "#57606a",
  grid: "#e8eaed",
  axis: "#b6bcc4",
  font: "system-ui, sans-serif",
  colourOf: (colour) => colour,
};

const current = signal<ChartTheme>(PLAIN);
let watching = false;

/** The theme of the page, as a signal that follows the system, the settings and the screen. */
export function chartTheme(): ReadonlySignal<ChartTheme> {
  if (!watching && typeof document !== "undefined") watch();
  return current;
}

function watch(): void {
  watching = true;
  const read = (): void => {
    current.value = readTheme();
  };
  read();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", read);
  matchMedia("(prefers-contrast: more)").addEventListener("change", read);
  new MutationObserver(read).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["class", "data-theme", "style"],
  });
}

function readTheme(): ChartTheme {
  const known = new Map<string, string>();
  const probe = document.createElement("span");
  probe.hidden = true;
  const resolve = (colour: string): string => {
    probe.style.color = "";
    probe.style.color = colour;
    if (!probe.isConnected) document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found || colour;
  };
  const colourOf = (colour: string): string => {
    if (!colour.includes("(")) return colour;
    let found = known.get(colour);
    if (found === undefined) {
      found = resolve(colour);
      known.set(colour, found);
    }
    return found;
  };
  const font = getComputedStyle(document.body).fontFamily || PLAIN.font;
  return {
    surface: colourOf(`var(--surface, ${PLAIN.surface})`),
    text: colourOf(`var(--text, ${PLAIN.text})`),
    muted: colourOf(`var(--chart-axis, ${PLAIN.muted})`),
    grid: colourOf(`var(--chart-grid, ${PLAIN.grid})`),
    axis: colourOf(`var(--line-strong, ${PLAIN.axis})`),
    font,
    colourOf,
  };
}
