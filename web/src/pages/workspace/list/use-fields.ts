// The fields that runs of the project have, as far as they fit what is typed: asked of the server, because there may be
// a hundred thousand of them.

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../../server/answer";
import { place } from "../../../server/client";
import type { FieldFacts, Paged } from "../../../server/types";
import { useWorkspace } from "../workspace";

export type FieldPage = Paged<FieldFacts> & { own: string[] };

/** Return a value that follows another once that has been still for a moment. */
export function useSettled<T>(value: T, wait = 150): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return settled;
}

/** Return the fields whose name contains a text, at most `limit`; undefined until they are here. */
export function useFields(contains: string, limit = 200): FieldPage | undefined {
  const { entity, project } = useWorkspace();
  const settled = useSettled(contains.trim());
  const path = place("projects", entity, project, "fields");
  return useAnswer<FieldPage>(path, { contains: settled || null, limit }).value;
}
