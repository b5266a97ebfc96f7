// All projects that one may see.

import { get } from "./client";
import type { Paged, ProjectOverview } from "./types";

/** Return all projects, page by page. */
export async function readProjects(abort?: AbortSignal): Promise<ProjectOverview[]> {
  const all: ProjectOverview[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: Paged<ProjectOverview> = await get(
      "/projects",
      { limit: 1000, cursor: cursor || null },
      abort,
    );
    all.push(...page.items);
    cursor = page.cursor;
  }
  return all;
}
