// An answer as a component reads it: the last one known is shown at once while it is asked for again; it is asked for
// again by itself when a lost server is back.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { address, get, type Query, returns } from "./client";

export interface Answer<T> {
  /** The newest answer, or an older one while a new one is under way; undefined before the first. */
  value: T | undefined;
  /** What went wrong the last time, if anything did. */
  problem: Error | null;
  isLoading: boolean;
  /** Ask again. */
  reload(): void;
}

const PLACES = 100;
/** By address; Map keeps the order of use. */
const known = new Map<string, unknown>();

/** Return the answer to a GET; a path of null asks nothing. */
export function useAnswer<T>(path: string | null, query?: Query): Answer<T> {
  const name = path === null ? null : address(path, query);
  const [, render] = useState(0);
  const [round, setRound] = useState(0);
  const state = useRef<{
    name: string | null;
    value: T | undefined;
    problem: Error | null;
    isLoading: boolean;
  }>({
    name: null,
    value: undefined,
    problem: null,
    isLoading: false,
  });
  if (state.current.name !== name) {
    const value = name === null ? undefined : (known.get(name) as T | undefined);
    state.current = { name, value, problem: null, isLoading: name !== null };
  }
  const back = returns.value; // read here, so that a server that is back is asked again
  useEffect(() => {
    if (name === null) return;
    const abort = new AbortController();
    const settle = (change: Partial<typeof state.current>): void => {
      if (abort.signal.aborted || state.current.name !== name) return;
      Object.assign(state.current, change, { isLoading: false });
      render((count) => count + 1);
    };
    get<T>(name, undefined, abort.signal).then(
      (value) => {
        remember(name, value);
        settle({ value, problem: null });
      },
      (problem: Error) => settle({ problem }),
    );
    return () => abort.abort();
  }, [name, round, back]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const { value, problem, isLoading } = state.current;
  return { value, problem, isLoading, reload };
}

function remember(name: string, value: unknown): void {
  known.delete(name);
  known.set(name, value);
  if (known.size > PLACES) known.delete(known.keys().next().value as string);
}

/** Forget all answers: another user sees other things. */
export function forgetAnswers(): void {
  known.clear();
}
