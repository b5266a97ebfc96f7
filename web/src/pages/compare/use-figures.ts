// The keys that runs have logged, and what each comes to. Asked for in the portions that the server takes, kept until a
// run has changed.

import { useEffect, useMemo, useState } from "preact/hooks";
import { type Goal, goalOf } from "../../runs/best";
import { DigestStore } from "../../runs/digests";
import { pathOf } from "../../runs/path";
import { naturalCompare } from "../../series/natural";
import { returns, send } from "../../server/client";
import type { Digest, RunItem, SharedKey } from "../../server/types";

/** Runs of one question. */
const AT_ONCE = 1000;

export interface Keys {
  readonly names: readonly string[];
  /** How many of the runs have a key. */
  readonly numRuns: ReadonlyMap<string, number>;
  /** Which way is better. */
  readonly goals: ReadonlyMap<string, Goal | null>;
  readonly isLoading: boolean;
  readonly problem: Error | null;
}

/** Return the keys of numbers that any of the runs has. */
export function useKeys(runs: readonly RunItem[]): Keys {
  const [keys, setKeys] = useState<Keys>({
    names: [],
    numRuns: new Map(),
    goals: new Map(),
    isLoading: true,
    problem: null,
  });
  const name = useMemo(() => runs.map((run) => `${pathOf(run)}:${run.version}`).join("\n"), [runs]);
  const back = returns.value;
  useEffect(() => {
    const abort = new AbortController();
    const paths = name === "" ? [] : name.split("\n").map((one) => one.slice(0, one.lastIndexOf(":")));
    const read = async (): Promise<void> => {
      const numRuns = new Map<string, number>();
      const goals = new Map<string, Goal | null>();
      for (let i = 0; i < paths.length; i += AT_ONCE) {
        const body = { runs: paths.slice(i, i + AT_ONCE), goals: true };
        const answer = await send("POST", "/metrics", { body, waits: true, abort: abort.signal });
        for (const { key, num_runs, goal, ...is } of ((await answer.json()) as { items: SharedKey[] })
          .items) {
          if (!is.has_points || is.is_system) continue;
          numRuns.set(key, (numRuns.get(key) ?? 0) + num_runs);
          goals.set(key, goals.get(key) ?? goalOf(goal));
        }
      }
      const names = [...numRuns.keys()].sort(naturalCompare);
      setKeys({ names, numRuns, goals, isLoading: false, problem: null });
    };
    read().catch((problem: Error) => {
      if (!abort.signal.aborted) setKeys((before) => ({ ...before, isLoading: false, problem }));
    });
    return () => abort.abort();
  }, [name, back]);
  return keys;
}

export interface Digests {
  readonly find: (run: RunItem, key: string) => Digest | undefined;
  readonly isLoading: boolean;
  readonly problem: Error | null;
  /** Grows with every answer. */
  readonly round: number;
}

/** Return what these keys of these runs come to, as far as it is here. */
export function useDigests(runs: readonly RunItem[], keys: readonly string[]): Digests {
  const [store] = useState(() => new DigestStore());
  const versions = useMemo(() => runs.map((run) => `${run.id}:${run.version}`).join("\n"), [runs]);
  const name = `${versions}\n\n${keys.join("\n")}`;
  const back = returns.value;
  useEffect(() => store.want(runs, keys), [store, name, back]);
  return {
    find: store.find,
    isLoading: store.isLoading.value,
    problem: store.problem.value,
    round: store.round.value,
  };
}
