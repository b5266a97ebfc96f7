// What every part of the page works with: the runs, the baseline, colours, names, what is brushed, and how to change it.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Goal } from "../../runs/best";
import type { RunStyle } from "../../series/palette";
import type { RunItem } from "../../server/types";
import type { CompareAddress } from "./address";
import type { CompareState } from "./state";
import type { Keys } from "./use-figures";

/** How runs are called and drawn. Apart from the rest, because hundreds of names need not follow every brush. */
export interface RunLook {
  readonly entity: string;
  readonly project: string;
  /** The run that the others are held against. */
  readonly base: RunItem;
  readonly label: (run: RunItem) => string;
  readonly style: (run: RunItem) => RunStyle;
}

export interface Comparison extends RunLook {
  readonly address: CompareAddress;
  readonly state: CompareState;
  readonly change: CompareAddress["change"];
  readonly runs: readonly RunItem[];
  readonly keys: Keys;
  readonly goal: (key: string) => Goal | null;
  /** Ids; null if nothing is brushed. */
  readonly brushed: ReadonlySet<string> | null;
  readonly brush: (ids: ReadonlySet<string> | null) => void;
}

export const ComparisonContext = createContext<Comparison | null>(null);

export const LookContext = createContext<RunLook | null>(null);

export function useLook(): RunLook {
  const found = useContext(LookContext);
  if (found === null) throw new Error("outside of a comparison");
  return found;
}

export function useComparison(): Comparison {
  const found = useContext(ComparisonContext);
  if (found === null) throw new Error("outside of a comparison");
  return found;
}

/** Return the name of each run, with its id where two have the same. */
export function labelsOf(runs: readonly RunItem[]): Map<string, string> {
  const names = new Map<string, number>();
  for (const run of runs) names.set(run.name, (names.get(run.name) ?? 0) + 1);
  return new Map(
    runs.map((run) => [run.id, (names.get(run.name) ?? 0) > 1 ? `${run.name} (${run.id})` : run.name]),
  );
}
