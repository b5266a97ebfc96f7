// The keys that runs have logged, and what each comes to. Asked for in the portions that the server takes, kept until a
// run has changed.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Goal, goalOf, type ToldGoal } from "../../runs/best";
import { naturalCompare } from "../../series/natural";
import { returns, send } from "../../server/client";
import type { Digest, RunItem } from "../../server/types";

/** Runs, or runs times keys, of one question. */
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

interface SharedKey {
  key: string;
  is_system: boolean;
  has_points: boolean;
  num_runs: number;
  goal: ToldGoal;
}

export function pathOf(run: Pick<RunItem, "entity" | "project" | "id">): string {
  return `${run.entity}/${run.project}/${run.id}`;
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

type Known = { version: number; digests: Map<string, Digest | undefined> };

/** Return what these keys of these runs come to, as far as it is here. */
export function useDigests(runs: readonly RunItem[], keys: readonly string[]): Digests {
  const known = useRef(new Map<string, Known>());
  const [round, setRound] = useState(0);
  const [problem, setProblem] = useState<Error | null>(null);
  const [isLoading, setLoading] = useState(false);
  const asked = useRef<{ runs: readonly RunItem[]; keys: readonly string[] }>({ runs, keys });
  asked.current = { runs, keys };
  const versions = useMemo(() => runs.map((run) => `${run.id}:${run.version}`).join("\n"), [runs]);
  const name = `${versions}\n\n${keys.join("\n")}`;
  const back = returns.value;
  useEffect(() => {
    const abort = new AbortController();
    const { runs: wanted, keys: wantedKeys } = asked.current;
    const old = wanted.filter((run) => isOld(known.current.get(pathOf(run)), run, wantedKeys));
    if (old.length === 0 || wantedKeys.length === 0) return;
    setLoading(true);
    readDigests(old, wantedKeys, known.current, abort.signal, () => setRound((count) => count + 1)).then(
      () => {
        setLoading(false);
        setProblem(null);
      },
      (error: Error) => {
        if (abort.signal.aborted) return;
        setLoading(false);
        setProblem(error);
      },
    );
    return () => abort.abort();
  }, [name, back]);
  const find = (run: RunItem, key: string): Digest | undefined =>
    known.current.get(pathOf(run))?.digests.get(key);
  return { find, isLoading, problem, round };
}

function isOld(known: Known | undefined, run: RunItem, keys: readonly string[]): boolean {
  return known === undefined || known.version !== run.version || keys.some((key) => !known.digests.has(key));
}

async function readDigests(
  runs: readonly RunItem[],
  keys: readonly string[],
  known: Map<string, Known>,
  abort: AbortSignal,
  onAnswer: () => void,
): Promise<void> {
  const perRun = Math.min(keys.length, AT_ONCE);
  const numRuns = Math.max(1, Math.floor(AT_ONCE / perRun));
  for (let i = 0; i < runs.length; i += numRuns) {
    for (let k = 0; k < keys.length; k += perRun) {
      const some = runs.slice(i, i + numRuns);
      const body = { runs: some.map(pathOf), keys: keys.slice(k, k + perRun) };
      const answer = await send("POST", "/digests", { body, waits: true, abort });
      const { items } = (await answer.json()) as {
        items: { run: string; digests: Record<string, Digest> }[];
      };
      const found = new Map(items.map((item) => [item.run, item.digests]));
      for (const run of some) {
        const before = known.get(pathOf(run));
        const digests = before?.version === run.version ? before.digests : new Map(before?.digests);
        for (const key of body.keys) digests.set(key, found.get(pathOf(run))?.[key]);
        known.set(pathOf(run), { version: run.version, digests });
      }
      onAnswer();
    }
  }
}
