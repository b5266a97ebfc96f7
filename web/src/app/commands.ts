// What can be done on every page, and the projects that the palette finds.

import { type Command, register } from "../keys/commands";
import { ranked } from "../keys/match";
import { addSource, isPaletteOpen, type PaletteItem } from "../keys/palette";
import { isSheetOpen } from "../keys/sheet";
import { ServerProblem } from "../server/client";
import { readProjects } from "../server/projects";
import type { ProjectOverview } from "../server/types";
import { copyText } from "../ui/note";
import { say, sayError } from "../ui/toast";
import { go } from "./navigation";
import { isDark, setDensity, setTheme } from "./theme";

const EVERYWHERE: readonly Command[] = [
  {
    id: "app.palette",
    title: "Search and commands",
    group: "General",
    keys: "mod+k",
    inFields: true,
    isHidden: true,
    run: () => {
      isPaletteOpen.value = true;
    },
  },
  {
    id: "app.sheet",
    title: "Show the keys",
    group: "General",
    keys: "?",
    words: "shortcuts keyboard help",
    run: () => {
      isSheetOpen.value = true;
    },
  },
  {
    id: "go.projects",
    title: "Go to projects",
    group: "General",
    keys: "g p",
    run: () => go({ name: "projects" }),
  },
  {
    id: "go.settings",
    title: "Go to settings",
    group: "General",
    keys: "g s",
    run: () => go({ name: "settings", tab: "" }),
  },
  {
    id: "go.benchmarks",
    title: "Go to benchmarks",
    group: "General",
    keys: "g b",
    run: () => go({ name: "benchmarks" }),
  },
  {
    id: "app.copy-link",
    title: "Copy a link to this view",
    group: "General",
    words: "share url address",
    run: () => void copyText(location.href).then(() => say("Link copied", { tone: "good" }), sayError),
  },
  {
    id: "look.toggle",
    title: "Switch light and dark",
    group: "Look",
    keys: "shift+d",
    words: "theme mode",
    run: () => setTheme(isDark() ? "light" : "dark"),
  },
  { id: "look.system", title: "Light or dark as the system", group: "Look", run: () => setTheme("system") },
  {
    id: "look.compact",
    title: "Compact rows",
    group: "Look",
    words: "density",
    run: () => setDensity("compact"),
  },
  {
    id: "look.normal",
    title: "Normal rows",
    group: "Look",
    words: "density",
    run: () => setDensity("normal"),
  },
];

export function registerEverywhere(): void {
  register(EVERYWHERE);
  addSource(projectsFor);
}

const FRESH_MS = 10_000;
let known: { at: number; projects: Promise<ProjectOverview[]> } | null = null;

/** Projects to go to, in the palette. */
async function projectsFor(typed: string): Promise<PaletteItem[]> {
  if (known === null || Date.now() - known.at > FRESH_MS)
    known = { at: Date.now(), projects: readProjects() };
  const projects = await known.projects.catch((error: Error) => {
    known = null;
    if (error instanceof ServerProblem) return []; // not signed in: the page says so
    throw error;
  });
  const named = projects.map(({ entity, name }) => ({
    id: `project:${entity}/${name}`,
    title: `${entity} / ${name}`,
    group: "Projects to go to",
    icon: "folder" as const,
    run: () => go({ name: "workspace", entity, project: name }),
  }));
  return ranked(named, typed, (item) => item.title).slice(0, typed ? 20 : 5);
}
