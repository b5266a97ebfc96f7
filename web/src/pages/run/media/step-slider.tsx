// A slider over the steps that were logged, with a button at each end, and its keys.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type Command, useCommands } from "../../../keys/commands";
import { count, counted } from "../../../series/format";
import { IconButton } from "../../../ui/button";
import { Slider } from "../../../ui/field";

export interface StepSliderProps {
  steps: readonly number[];
  /** The place of the step that is shown. */
  place: number;
  /** Another place that is pointed at. */
  mark?: number | null;
  onPlace: (place: number) => void;
}

export function StepSlider({ steps, place, mark, onPlace }: StepSliderProps): JSX.Element {
  const step = steps[place];
  return (
    <div class="steps">
      <IconButton
        icon="back"
        label="Step before"
        keys="["
        disabled={place <= 0}
        onClick={() => onPlace(place - 1)}
      />
      <Slider
        label="Step"
        isLabelShown
        min={0}
        max={Math.max(0, steps.length - 1)}
        value={Math.max(0, place)}
        mark={mark ?? null}
        shown={step === undefined ? "" : count(step)}
        disabled={steps.length < 2}
        onInput={onPlace}
      />
      <IconButton
        icon="chevronRight"
        label="Next step"
        keys="]"
        disabled={place >= steps.length - 1}
        onClick={() => onPlace(place + 1)}
      />
      <span class="quiet steps-place">
        {count(place + 1)} of {counted(steps.length, "step")}
      </span>
    </div>
  );
}

export function useStepKeys(move: (by: number) => void, goTo: (place: number) => void, length: number): void {
  const commands = useMemo<Command[]>(() => {
    const group = "Media";
    return [
      { id: "media.before", title: "Step before", group, keys: "[", run: () => move(-1) },
      { id: "media.after", title: "Next step", group, keys: "]", run: () => move(1) },
      { id: "media.first", title: "First step", group, keys: "{", run: () => goTo(0) },
      { id: "media.last", title: "Last step", group, keys: "}", run: () => goTo(length - 1) },
    ];
  }, [move, goTo, length]);
  useCommands(commands);
}
