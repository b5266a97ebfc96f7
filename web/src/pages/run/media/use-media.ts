// What a run logged besides numbers, at one step: the keys, the steps that a slider can stand at, and what each key has
// at the step that the address names.

import { useCallback, useMemo, useRef } from "preact/hooks";
import type { Answer } from "../../../server/answer";
import type { LoggedValue, ObjectKey, ObjectSteps } from "../documents";
import { useFresh, useRun } from "../model";
import { useParam } from "../params";
import { isTable } from "./records";
import { placeOf, stepShown, unionOf } from "./steps";

type Values = Record<string, LoggedValue>;

/** The keys of media, those of tables left out; null until they are known. */
export function useMediaKeys(): {
  keys: readonly ObjectKey[] | null;
  answer: Answer<{ items: ObjectKey[] }>;
} {
  const answer = useFresh<{ items: ObjectKey[] }>(useRun().api("objects"));
  const { value } = answer;
  const keys = useMemo(() => value?.items.filter((one) => !one.types.every(isTable)) ?? null, [value]);
  return { keys, answer };
}

export interface MediaAt {
  readonly steps: readonly number[];
  /** The step that is shown, and its place among all; null and -1 where there is none. */
  readonly step: number | null;
  readonly place: number;
  readonly values: Values;
  readonly stepsOf: Answer<ObjectSteps>;
  readonly nearest: Answer<{ values: Values }>;
  readonly goTo: (place: number) => void;
  readonly move: (by: number) => void;
}

export function useMediaAt(names: readonly string[]): MediaAt {
  const model = useRun();
  const [wanted, setWanted] = useParam("step");
  const stepsOf = useFresh<ObjectSteps>(names.length ? model.api("objects", "steps") : null, { keys: names });
  const steps = useMemo(() => unionOf(Object.values(stepsOf.value?.steps ?? {})), [stepsOf.value]);
  const step = stepShown(steps, wanted);
  const nearest = useFresh<{ values: Values }>(step === null ? null : model.api("objects", "nearest"), {
    step,
    keys: names,
  });
  const values = useLast(nearest);
  const place = step === null ? -1 : placeOf(steps, step);
  // Keys may come faster than the page is drawn.
  const now = useRef(place);
  now.current = place;
  const goTo = useCallback(
    (index: number) => {
      const to = Math.max(0, Math.min(steps.length - 1, index));
      now.current = to;
      // At the end it follows what comes.
      setWanted(to === steps.length - 1 ? "" : String(steps[to]));
    },
    [steps, setWanted],
  );
  const move = useCallback((by: number) => goTo(now.current + by), [goTo]);
  return { steps, step, place, values, stepsOf, nearest, goTo, move };
}

/** The values of the step before stay until those of the next are here: nothing flickers. */
function useLast(answer: Answer<{ values: Values }>): Values {
  const last = useRef<Values>({});
  if (answer.value) last.current = answer.value.values;
  return last.current;
}
