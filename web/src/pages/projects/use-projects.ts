// The list of projects, kept up to date: news of the runs of those with news lately come as a stream; that there is a
// new project is found out by asking now and then.

import { useCallback, useEffect, useState } from "preact/hooks";
import { returns } from "../../server/client";
import { watch } from "../../server/live";
import { readProjects } from "../../server/projects";
import type { ProjectOverview } from "../../server/types";

export interface Projects {
  projects: readonly ProjectOverview[] | null;
  problem: Error | null;
  reload: () => void;
}

const ASK_MS = 10_000;
/** Whoever waits for the first project to show up should not wait long. */
const ASK_FOR_FIRST_MS = 2000;
const SETTLE_MS = 500;
/** As many as one stream takes. */
const WATCHED = 50;

let last: readonly ProjectOverview[] | null = null;

export function useProjects(): Projects {
  const [projects, setProjects] = useState(last);
  const [problem, setProblem] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const back = returns.value;
  useEffect(() => {
    const abort = new AbortController();
    readProjects(abort.signal).then(
      (found) => {
        last = found;
        setProjects(found);
        setProblem(null);
      },
      (error: Error) => !abort.signal.aborted && setProblem(error),
    );
    return () => abort.abort();
  }, [round, back]);
  const pause = projects?.length === 0 ? ASK_FOR_FIRST_MS : ASK_MS;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && reload(), pause);
    return () => clearInterval(timer);
  }, [reload, pause]);
  useNews(projects, reload);
  return { projects, problem, reload };
}

/** Call back a moment after something happened in any of the latest projects. */
function useNews(projects: readonly ProjectOverview[] | null, onNews: () => void): void {
  const latest = [...(projects ?? [])].sort((a, b) => b.active_ns - a.active_ns).slice(0, WATCHED);
  const names = latest.map((project) => `${project.entity}/${project.name}`).sort();
  const watched = names.join("\n");
  useEffect(() => {
    if (!watched) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const note = (): void => {
      timer ??= setTimeout(() => {
        timer = null;
        onNews();
      }, SETTLE_MS);
    };
    const stream = watch({ projects: watched.split("\n") }, { run: note, reset: note });
    return () => {
      stream.stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [watched, onNews]);
}
