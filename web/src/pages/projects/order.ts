// Which projects are listed, and in which order. Pure.

import { score } from "../../keys/match";
import type { ProjectOverview } from "../../server/types";

export type Order = "active" | "name" | "runs";
export const ORDERS: readonly { value: Order; title: string }[] = [
  { value: "active", title: "Latest activity" },
  { value: "name", title: "Name" },
  { value: "runs", title: "Number of runs" },
];

/** Return the projects that fit a search, in an order; what fits best comes first. */
export function choose(
  projects: readonly ProjectOverview[],
  search: string,
  order: Order,
): ProjectOverview[] {
  const compare = {
    active: (a: ProjectOverview, b: ProjectOverview) =>
      b.num_running - a.num_running || b.active_ns - a.active_ns,
    name: (a: ProjectOverview, b: ProjectOverview) => byName(a, b),
    runs: (a: ProjectOverview, b: ProjectOverview) => b.num_runs - a.num_runs || byName(a, b),
  }[order];
  const sorted = [...projects].sort(compare);
  if (!search.trim()) return sorted;
  return sorted
    .map((project) => ({
      project,
      fit: score(`${project.entity}/${project.name} ${project.description}`, search),
    }))
    .filter(({ fit }) => fit !== null && fit > 0)
    .map(({ project }) => project);
}

function byName(a: ProjectOverview, b: ProjectOverview): number {
  return `${a.entity}/${a.name}`.localeCompare(`${b.entity}/${b.name}`, "en", { numeric: true });
}
