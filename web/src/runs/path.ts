// The name of a run on the server.

import type { RunItem } from "../server/types";

export function pathOf(run: Pick<RunItem, "entity" | "project" | "id">): string {
  return `${run.entity}/${run.project}/${run.id}`;
}
