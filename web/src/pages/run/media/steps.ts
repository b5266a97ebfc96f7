// The steps that a slider can stand at: those at which something was logged, never one between. Pure.

/** Return all steps of several keys, in order, each once. */
export function unionOf(lists: Iterable<readonly number[]>): number[] {
  const all = new Set<number>();
  for (const list of lists) for (const step of list) all.add(step);
  return [...all].sort((a, b) => a - b);
}

/** Return the place of the last step at or before one; 0 where all are after it, -1 where there are none. */
export function placeOf(steps: readonly number[], step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) <= step) low = middle + 1;
    else high = middle;
  }
  return steps.length === 0 ? -1 : Math.max(0, low - 1);
}

/** Return the place of the step that is nearest, the earlier one of two; -1 where there are none. */
export function nearestPlace(steps: readonly number[], step: number): number {
  const before = placeOf(steps, step);
  const next = steps[before + 1];
  return next !== undefined && next - step < step - (steps[before] as number) ? before + 1 : before;
}

/** Return the step that is shown: the wanted one if there is one, else the last; it follows the end if none is wanted. */
export function stepShown(steps: readonly number[], wanted: string): number | null {
  const number = Number(wanted);
  if (wanted === "" || !Number.isFinite(number)) return steps.at(-1) ?? null;
  return steps[placeOf(steps, number)] ?? null;
}
