// Which projects have results, and how many: asked now and then, so that new ones are noticed. Cheap, unlike the page
// itself, which would disturb what is being measured on the same machine if it were made again for every result.

import { useEffect } from "preact/hooks";
import { type Answer, useAnswer } from "../../server/answer";

/** GET /api/v1/benchmarks/projects */
export interface BenchProject {
  entity: string;
  project: string;
  num_results: number;
  newest_ns: number;
}

export interface Listing {
  items: readonly BenchProject[];
}

const ASK_MS = 5000;
/** Whoever waits for the first result to show up should not wait long. */
const ASK_FOR_FIRST_MS = 2000;

/** The list, each time as a new object. */
export function useListing(): Answer<Listing> {
  const answer = useAnswer<Listing>("/benchmarks/projects");
  const { value, reload } = answer;
  const pause = value?.items.length === 0 ? ASK_FOR_FIRST_MS : ASK_MS;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && reload(), pause);
    return () => clearInterval(timer);
  }, [reload, pause]);
  return answer;
}

export function nameOf(one: BenchProject): string {
  return `${one.entity}/${one.project}`;
}

/** Return a project's name as the list has it: `local` is the caller's own entity. */
export function fullName(name: string, entity: string | null | undefined): string {
  return entity && name.startsWith("local/") ? entity + name.slice("local".length) : name;
}

/** Return how many results a project has; all projects, if it is "". */
export function numResults(listing: Listing, project: string): number {
  const chosen = listing.items.filter((one) => project === "" || nameOf(one) === project);
  return chosen.reduce((sum, one) => sum + one.num_results, 0);
}
