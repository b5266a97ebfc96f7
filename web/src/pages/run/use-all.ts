// All items of a list that comes by pages, as they come.

import { useEffect, useState } from "preact/hooks";
import { get } from "../../server/client";
import type { Paged } from "../../server/types";
import { useRun } from "./model";

export interface All<T> {
  /** Null until the first page is here. */
  items: readonly T[] | null;
  isWhole: boolean;
  problem: Error | null;
  reload: () => void;
}

export function useAll<T>(path: string, limit: number): All<T> {
  const { beat } = useRun();
  const [state, setState] = useState<Omit<All<T>, "reload">>({ items: null, isWhole: false, problem: null });
  const [round, setRound] = useState(0);
  const now = beat.value;
  useEffect(() => {
    void round;
    void now; // the run went on
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      const found: T[] = [];
      let cursor: string | null = null;
      do {
        const query: Record<string, string | number> = cursor === null ? { limit } : { limit, cursor };
        const page: Paged<T> = await get<Paged<T>>(path, query, abort.signal);
        found.push(...page.items);
        cursor = page.cursor;
        // A list that is here already is not replaced by its beginning.
        setState((before) =>
          cursor === null || before.items === null || !before.isWhole
            ? { items: [...found], isWhole: cursor === null, problem: null }
            : before,
        );
      } while (cursor !== null && !abort.signal.aborted);
    };
    read().catch((problem: Error) => {
      if (!abort.signal.aborted) setState((before) => ({ ...before, problem }));
    });
    return () => abort.abort();
  }, [path, limit, round, now]);
  return { ...state, reload: () => setRound(round + 1) };
}
