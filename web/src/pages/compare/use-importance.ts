// Permutation importances, computed a tree at a time between frames, so that the page answers meanwhile.

import { useEffect, useState } from "preact/hooks";
import { type Column, growForest, NUM_TREES } from "./forest";

export interface Importance {
  /** By column name; null before the first tree, or where there is too little to learn from. */
  readonly shares: ReadonlyMap<string, number> | null;
  /** 0 to 1. */
  readonly progress: number;
}

/** Fewer runs teach nothing. */
export const FEWEST_RUNS = 12;
/** A tree should take a few milliseconds; beyond this it does not. */
const MOST_CELLS = 400_000;
const SLICE_MS = 12;

export function useImportance(columns: readonly Column[], target: Float64Array): Importance {
  const [state, setState] = useState<Importance>({ shares: null, progress: 0 });
  const isPossible =
    columns.length > 0 && target.length >= FEWEST_RUNS && columns.length * target.length <= MOST_CELLS;
  useEffect(() => {
    setState({ shares: null, progress: 0 });
    if (!isPossible) return;
    const forest = growForest(columns, target);
    let trees = 0;
    let timer: ReturnType<typeof setTimeout>;
    const work = (): void => {
      const until = performance.now() + SLICE_MS;
      let step = forest.next();
      while (!step.done) {
        trees += 1;
        if (performance.now() >= until) break;
        step = forest.next();
      }
      if (step.done) {
        const shares = new Map(columns.map((column, i) => [column.name, step.value[i] as number]));
        setState({ shares, progress: 1 });
        return;
      }
      setState((before) => ({ ...before, progress: trees / NUM_TREES }));
      timer = setTimeout(work, 0);
    };
    timer = setTimeout(work, 50);
    return () => clearTimeout(timer);
  }, [columns, target, isPossible]);
  return state;
}
