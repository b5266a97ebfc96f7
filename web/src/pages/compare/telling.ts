// Which metrics to show where not all are. Pure.

import { tellingKey } from "../../runs/telling";

const FIRST = 4;

/** Return at most so many names, those that say most about how a run goes first; all as they are if they fit. */
export function telling(names: readonly string[], most: number): string[] {
  if (names.length <= most) return [...names];
  const rest = [...names];
  const first: string[] = [];
  while (first.length < Math.min(most, FIRST)) {
    const next = tellingKey(rest) as string;
    first.push(next);
    rest.splice(rest.indexOf(next), 1);
  }
  return [...first, ...rest.slice(0, most - first.length)];
}
