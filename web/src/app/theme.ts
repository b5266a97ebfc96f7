// Light, dark or as the system has it, and how dense: kept in the browser; `theme=` in the URL is for this page only,
// so that a shared link or a screenshot looks the same everywhere.

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type Density = "normal" | "compact";

export const THEMES: readonly { value: Theme; title: string }[] = [
  { value: "system", title: "As the system" },
  { value: "light", title: "Light" },
  { value: "dark", title: "Dark" },
];
export const DENSITIES: readonly { value: Density; title: string }[] = [
  { value: "normal", title: "Normal" },
  { value: "compact", title: "Compact" },
];

const THEME = "strobe.theme";
const DENSITY = "strobe.density";
const darkness = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(darkness?.matches ?? false);

export const theme = signal<Theme>(
  asTheme(new URLSearchParams(globalThis.location?.search).get("theme")) ?? asTheme(kept(THEME)) ?? "system",
);
export const density = signal<Density>(kept(DENSITY) === "compact" ? "compact" : "normal");

/** Whether the page is dark now: for what is drawn on a canvas. Read it in a component or an effect. */
export function isDark(): boolean {
  return theme.value === "system" ? isSystemDark.value : theme.value === "dark";
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  keep(THEME, chosen);
}

export function setDensity(chosen: Density): void {
  density.value = chosen;
  keep(DENSITY, chosen);
}

/** Put theme and density on the document, and follow them. */
export function applyTheme(): void {
  darkness?.addEventListener("change", (event) => {
    isSystemDark.value = event.matches;
  });
  effect(() => {
    const root = document.documentElement;
    if (theme.value === "system") delete root.dataset.theme;
    else root.dataset.theme = theme.value;
    root.dataset.density = density.value;
  });
}

function asTheme(text: string | null): Theme | null {
  return text === "light" || text === "dark" || text === "system" ? text : null;
}

/** A browser may be told to keep nothing; then choices last as long as the page. */
function kept(name: string): string | null {
  try {
    return globalThis.localStorage?.getItem(name) ?? null;
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
