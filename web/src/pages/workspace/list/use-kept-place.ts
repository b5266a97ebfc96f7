// Runs that come in above do not move what is looked at.

import { useCallback, useLayoutEffect, useRef } from "preact/hooks";
import type { VirtualListHandle } from "../../../ui/virtual";
import type { Row } from "./rows";

/** Return what to call with the first row in view whenever that changes. */
export function useKeptPlace(
  rows: readonly Row[],
  handle: { current: VirtualListHandle | null },
  rowHeight: number,
): (first: number) => void {
  const top = useRef<{ id: string; index: number } | null>(null);
  useLayoutEffect(() => {
    const element = handle.current?.element;
    const before = top.current;
    if (!element || before === null || element.scrollTop < rowHeight) return;
    if (rows[before.index]?.id === before.id) return;
    // New runs are at the beginning: a far search would be for runs that went elsewhere.
    const index = rows.slice(0, before.index + 50).findIndex((row) => row.id === before.id);
    if (index >= 0) element.scrollTop += (index - before.index) * rowHeight;
  }, [rows, handle, rowHeight]);
  return useCallback(
    (first: number) => {
      const row = rows[first];
      top.current = row ? { id: row.id, index: first } : null;
    },
    [rows],
  );
}
