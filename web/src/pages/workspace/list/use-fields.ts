// The fields that runs of the project have, as far as they fit what is typed: asked of the server, because there may be
// a hundred thousand of them.

import { useAnswer } from "../../../server/answer";
import { place } from "../../../server/client";
import type { FieldFacts, Paged } from "../../../server/types";
import { useSettled } from "../../../ui/settled";
import { useWorkspace } from "../workspace";

export type FieldPage = Paged<FieldFacts> & { own: string[] };

/** Return the fields whose name contains a text, at most `limit`; undefined until they are here. */
export function useFields(contains: string, limit = 200): FieldPage | undefined {
  const { entity, project } = useWorkspace();
  const settled = useSettled(contains.trim());
  const path = place("projects", entity, project, "fields");
  return useAnswer<FieldPage>(path, { contains: settled || null, limit }).value;
}
