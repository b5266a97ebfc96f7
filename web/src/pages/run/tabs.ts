// The tabs of a run, in the order of their keys (1, 2, …). Pure.

import type { RunKey } from "./documents";

export const TABS = [
  { id: "overview", title: "Overview" },
  { id: "charts", title: "Charts" },
  { id: "system", title: "System" },
  { id: "console", title: "Console" },
  { id: "media", title: "Media" },
  { id: "tables", title: "Tables" },
  { id: "files", title: "Files" },
  { id: "artifacts", title: "Artifacts" },
] as const;

export type TabId = (typeof TABS)[number]["id"];

/** Return the tab that an address names; the first one for none or an unknown one. */
export function tabOf(text: string): TabId {
  return TABS.find((tab) => tab.id === text)?.id ?? "overview";
}

/** How many charts there are of what was logged. */
export function numCharts(keys: readonly RunKey[] | null): number | null {
  return keys === null ? null : keys.filter((key) => key.lane === "" && key.has_points).length;
}
