// The runs that are compared: those that were picked, or all that the workspace's filter means, page by page. Nothing is
// left out in silence: `total` says how many there are, `missing` which picked ones are not there.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { mongoText, toMongo } from "../../filter/mongo";
import { parseFilter } from "../../filter/parse";
import { get, place, returns } from "../../server/client";
import { watch } from "../../server/live";
import type { Paged, RunItem } from "../../server/types";

export interface RunsWish {
  readonly entity: string;
  readonly project: string;
  readonly runs: readonly string[];
  readonly filter: string;
  readonly sort: string;
}

export interface Compared {
  readonly runs: readonly RunItem[];
  readonly total: number;
  readonly missing: readonly string[];
  readonly isLoading: boolean;
  readonly problem: Error | null;
  /** Read the rest too. */
  readonly readAll: () => void;
  readonly reload: () => void;
}

const PAGE = 500;
/** Runs of a view that are read before anybody asks for more. */
export const FIRST = 500;
const SETTLE_MS = 2000;

interface Read {
  name: string;
  runs: readonly RunItem[];
  total: number;
  missing: readonly string[];
}

export function useRuns(wish: RunsWish): Compared {
  const [read, setRead] = useState<Read | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [isAll, setAll] = useState(false);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const back = returns.value;
  const name = JSON.stringify(wish);
  useEffect(() => {
    const abort = new AbortController();
    const asked = JSON.parse(name) as RunsWish;
    setLoading(true);
    const reading =
      asked.runs.length > 0 ? readPicked(asked, abort.signal) : readView(asked, isAll, abort.signal);
    reading.then(
      (found) => {
        setRead({ name, ...found });
        setProblem(null);
        setLoading(false);
      },
      (error: Error) => {
        if (abort.signal.aborted) return;
        setProblem(error);
        setLoading(false);
      },
    );
    return () => abort.abort();
  }, [name, isAll, round, back]);
  useNews(wish, read?.runs ?? [], reload);
  return {
    runs: read?.runs ?? [],
    total: read?.total ?? 0,
    missing: read?.missing ?? [],
    isLoading,
    problem,
    readAll: useCallback(() => setAll(true), []),
    reload,
  };
}

async function readPicked(
  { entity, project, runs }: RunsWish,
  abort: AbortSignal,
): Promise<Omit<Read, "name">> {
  const found = new Map<string, RunItem>();
  for (let i = 0; i < runs.length; i += PAGE) {
    const some = runs.slice(i, i + PAGE);
    const filter = JSON.stringify({ id: { $in: some } });
    const page = await get<Paged<RunItem>>(runsPath(entity, project), { filter, limit: PAGE }, abort);
    for (const item of page.items) found.set(item.id, item);
  }
  const there = runs.flatMap((id) => found.get(id) ?? []);
  return { runs: there, total: there.length, missing: runs.filter((id) => !found.has(id)) };
}

async function readView(
  { entity, project, filter: text, sort }: RunsWish,
  isAll: boolean,
  abort: AbortSignal,
): Promise<Omit<Read, "name">> {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(`The filter cannot be read: ${parsed.problem.message}`);
  const filter = parsed.condition === null ? null : mongoText(toMongo(parsed.condition));
  const runs: RunItem[] = [];
  let total = 0;
  let cursor: string | null = "";
  while (cursor !== null && (isAll || runs.length < FIRST)) {
    const page: Paged<RunItem> = await get(
      runsPath(entity, project),
      { filter, sort, limit: PAGE, cursor: cursor || null, count: cursor === "" ? true : null },
      abort,
    );
    runs.push(...page.items);
    if (cursor === "") total = page.total ?? page.items.length;
    cursor = page.cursor;
  }
  return { runs, total: Math.max(total, runs.length), missing: [] };
}

export function runsPath(entity: string, project: string): string {
  return place("projects", entity, project, "runs");
}

/** Read again a moment after one of the runs has changed. */
function useNews({ entity, project }: RunsWish, runs: readonly RunItem[], reload: () => void): void {
  const ids = useRef(new Set<string>());
  ids.current = new Set(
    runs.filter((run) => run.state === "running").map((run) => `${entity}/${project}/${run.id}`),
  );
  const isLive = ids.current.size > 0;
  useEffect(() => {
    if (!isLive) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const note = (): void => {
      timer ??= setTimeout(() => {
        timer = null;
        reload();
      }, SETTLE_MS);
    };
    const stream = watch(
      { projects: [`${entity}/${project}`] },
      { run: (news) => ids.current.has(news.run) && note(), reset: note },
    );
    return () => {
      stream.stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [entity, project, isLive, reload]);
}
