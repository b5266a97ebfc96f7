// A slider over the steps that were logged, with a button at each end.

import type { JSX } from "preact";
import { count, counted } from "../../../series/format";
import { IconButton } from "../../../ui/button";
import { Slider } from "../../../ui/field";

export interface StepSliderProps {
  steps: readonly number[];
  /** The place of the step that is shown. */
  place: number;
  onPlace: (place: number) => void;
}

export function StepSlider({ steps, place, onPlace }: StepSliderProps): JSX.Element {
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
