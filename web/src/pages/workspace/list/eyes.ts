// Which runs and groups have their eye open, as changes of the view. Pure.

import type { RunsView } from "../../../view/state";
import { type Eyes, isShown } from "../data/drawn";

/** Stands for nobody in `shownOnly`, which would mean everybody if it were empty. No run is called so. */
const NOBODY = ":";

export type EyesPatch = Pick<RunsView, "hidden" | "shownOnly">;

export function showAll(): EyesPatch {
  return { hidden: [], shownOnly: [] };
}

export function showNone(): EyesPatch {
  return { hidden: [], shownOnly: [NOBODY] };
}

export function showOnly(ids: readonly string[]): EyesPatch {
  return { hidden: [], shownOnly: ids };
}

/** Return the eyes with those of some ids the other way round; mixed ones are opened. */
export function toggleEyes(eyes: Eyes, ids: readonly string[]): EyesPatch {
  const isClosing = ids.every((id) => isShown(id, eyes));
  const some = new Set(ids);
  if (eyes.shownOnly.length === 0) {
    const others = eyes.hidden.filter((id) => !some.has(id));
    return { hidden: isClosing ? [...others, ...ids] : others, shownOnly: [] };
  }
  const others = eyes.shownOnly.filter((id) => !some.has(id) && id !== NOBODY);
  if (!isClosing) return { hidden: eyes.hidden, shownOnly: [...others, ...ids] };
  return others.length === 0 ? showNone() : { hidden: eyes.hidden, shownOnly: others };
}

/** Tell whether all, none or some of a list are shown. */
export function eyesOf(eyes: Eyes): "all" | "none" | "some" {
  if (eyes.shownOnly.length === 1 && eyes.shownOnly[0] === NOBODY) return "none";
  return eyes.shownOnly.length === 0 && eyes.hidden.length === 0 ? "all" : "some";
}
