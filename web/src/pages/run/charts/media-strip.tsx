// Media below the charts, linked with their crosshair: pointing at a chart marks the nearest step on the slider, a click
// takes the slider there, and moving the slider holds the crosshair of all charts at its step.

import { batch, effect, untracked, useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useEffect } from "preact/hooks";
import { Link } from "../../../app/navigation";
import { crosshair, isLocked, readings } from "../../../chart/crosshair";
import { count, counted } from "../../../series/format";
import { ErrorNote } from "../../../ui/note";
import { MediaCard } from "../media/card";
import "../media/media.css";
import { StepSlider, useStepKeys } from "../media/step-slider";
import { nearestPlace, placeOf } from "../media/steps";
import { type MediaAt, useMediaAt } from "../media/use-media";
import { useParam } from "../params";
import type { RunWorkspace } from "./run-workspace";

/** Who holds the crosshair when the slider does. */
const SLIDER = "media";
/** Keys that stand side by side; the others are on the page of media. */
const MOST = 20;

export interface MediaStripProps {
  workspace: RunWorkspace;
  /** The keys that hold media. */
  names: readonly string[];
}

export function MediaStrip({ workspace, names }: MediaStripProps): JSX.Element {
  const some = names.slice(0, MOST);
  const media = useMediaAt(some);
  const { steps, step, values, nearest, stepsOf } = media;
  const { goTo, move } = useLinked(workspace, media);
  useStepKeys(move, goTo, steps.length);
  const problem = stepsOf.problem ?? nearest.problem;
  const { entity, project, run } = workspace;
  return (
    <section class="media-strip" aria-label="Media at the crosshair">
      <div class="media-strip-head">
        <LinkedSlider workspace={workspace} media={media} onPlace={goTo} />
        {names.length > some.length && (
          <span class="quiet">
            Showing {count(some.length)} of {counted(names.length, "key")}
          </span>
        )}
        <Link
          class="button here-end"
          to={{ name: "run", entity, project, run, tab: "media" }}
          search={step === null ? "" : `?step=${step}`}
        >
          All media here
        </Link>
      </div>
      {problem && <ErrorNote error={problem} onRetry={stepsOf.reload} />}
      <div class="media-strip-cards">
        {some.map((name) => (
          <MediaCard
            key={name}
            name={name}
            value={values[name] ?? null}
            isAsked={nearest.value !== undefined}
            step={step}
            hasMarks
            onStep={(to) => goTo(placeOf(steps, to))}
            onMove={move}
          />
        ))}
      </div>
    </section>
  );
}

interface LinkedSliderProps {
  workspace: RunWorkspace;
  media: MediaAt;
  onPlace: (place: number) => void;
}

/** Follows the pointer by itself: what is shown at the step is not drawn again for it. */
function LinkedSlider({ workspace, media, onPlace }: LinkedSliderProps): JSX.Element {
  const { steps, place } = media;
  const step = useComputed(() => {
    const at = crosshair.value;
    return at === null || isLocked.value ? null : workspace.stepAt(at.axis, at.x);
  });
  const mark = step.value === null ? null : nearestPlace(steps, step.value);
  return <StepSlider steps={steps} place={place} mark={mark} onPlace={onPlace} />;
}

/** Take the slider to where the crosshair is held; return what moves the slider, and holds the crosshair there. */
function useLinked(
  workspace: RunWorkspace,
  { steps, step, place, goTo }: MediaAt,
): Pick<MediaAt, "goTo" | "move"> {
  const [wanted] = useParam("step");
  useEffect(
    () =>
      effect(() => {
        const at = crosshair.value;
        if (!isLocked.value || at === null || at.chart === SLIDER || steps.length === 0) return;
        const to = workspace.stepAt(at.axis, at.x);
        if (to !== null) untracked(() => goTo(nearestPlace(steps, to)));
      }),
    [workspace, steps, goTo],
  );
  const isHere = step !== null;
  useEffect(() => {
    // An address with a step has its place in the charts too.
    if (isHere && wanted !== "" && crosshair.peek() === null) hold(workspace, step);
  }, [isHere]);
  const goAndHold = useCallback(
    (to: number) => {
      goTo(to);
      const at = steps[Math.max(0, Math.min(steps.length - 1, to))];
      if (at !== undefined) hold(workspace, at);
    },
    [workspace, steps, goTo],
  );
  const move = useCallback((by: number) => goAndHold(place + by), [goAndHold, place]);
  return { goTo: goAndHold, move };
}

function hold(workspace: RunWorkspace, step: number): void {
  const axis = workspace.view.peek().charts.xAxis;
  const x = workspace.placeOfStep(axis, step);
  if (x === null) return;
  batch(() => {
    crosshair.value = { x, axis, chart: SLIDER };
    readings.value = null;
    isLocked.value = true;
  });
}
