// All media of a run at one step: a slider over the steps that were logged moves every key at once; a key without
// something at that step shows what it had last.

import type { JSX } from "preact";
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { type Command, useCommands } from "../../../keys/commands";
import { count, counted } from "../../../series/format";
import type { Answer } from "../../../server/answer";
import { Button } from "../../../ui/button";
import { Select, TextField } from "../../../ui/field";
import { EmptyState, ErrorNote } from "../../../ui/note";
import type { LoggedValue, ObjectKey, ObjectSteps } from "../documents";
import { useFresh, useRun } from "../model";
import { useParam } from "../params";
import { MediaCard } from "./card";
import { isTable } from "./records";
import { StepSlider } from "./step-slider";
import { placeOf, stepShown, unionOf } from "./steps";
import "./media.css";

const SIZES = [
  { value: "s", title: "Small" },
  { value: "", title: "Medium" },
  { value: "l", title: "Large" },
  { value: "xl", title: "Very large" },
] as const;
/** Keys of one question to the server, and those that are shown before one asks for more. */
const AT_ONCE = 200;
const AT_FIRST = 60;

export function Media(): JSX.Element {
  const model = useRun();
  const known = useFresh<{ items: ObjectKey[] }>(model.api("objects"));
  const [search, setSearch] = useParam("q");
  const [wanted, setWanted] = useParam("step");
  const [size, setSize] = useParam("size");
  const [marks, setMarks] = useParam("marks");
  const [most, setMost] = useState(AT_FIRST);
  const field = useRef<HTMLInputElement>(null);
  const all = useMemo(
    () => (known.value?.items ?? []).filter((one) => !one.types.every(isTable)),
    [known.value],
  );
  const matching = useMemo(
    () => all.filter((one) => one.key.toLowerCase().includes(search.trim().toLowerCase())),
    [all, search],
  );
  const keys = matching.slice(0, Math.min(most, AT_ONCE));
  const names = keys.map((one) => one.key);
  const stepsOf = useFresh<ObjectSteps>(names.length ? model.api("objects", "steps") : null, { keys: names });
  const steps = useMemo(() => unionOf(Object.values(stepsOf.value?.steps ?? {})), [stepsOf.value]);
  const step = stepShown(steps, wanted);
  const nearest = useFresh<{ values: Record<string, LoggedValue> }>(
    step === null ? null : model.api("objects", "nearest"),
    { step, keys: names },
  );
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
  useCommands(
    useMemo(
      () => ownCommands(move, goTo, () => field.current?.focus(), steps.length),
      [move, goTo, steps.length],
    ),
  );
  if (known.problem && !known.value) return <ErrorNote error={known.problem} onRetry={known.reload} />;
  if (!known.value) return <div aria-busy="true" />;
  if (all.length === 0) {
    return (
      <EmptyState title="No media were logged" icon="eye">
        <p>Images, sound, video, text, HTML and histograms show up here as they are logged:</p>
        <pre class="hint">run.log({'{"samples": strobe.Image(array)}'})</pre>
      </EmptyState>
    );
  }
  const hasMarks = marks !== "0";
  return (
    <>
      <div class="run-bar media-bar">
        <TextField
          type="search"
          icon="search"
          label="Search media"
          placeholder="Search keys"
          hint={<kbd>/</kbd>}
          value={search}
          onInput={setSearch}
          inputRef={field}
        />
        <StepSlider steps={steps} place={place} onPlace={goTo} />
        <div class="run-bar-end">
          <Button
            pressed={hasMarks}
            onClick={() => setMarks(hasMarks ? "0" : "")}
            title="Boxes and masks of images"
          >
            Marks
          </Button>
          <Select label="Size" value={size} options={SIZES} onChange={setSize} />
        </div>
      </div>
      {stepsOf.problem && <ErrorNote error={stepsOf.problem} onRetry={stepsOf.reload} />}
      {nearest.problem && <ErrorNote error={nearest.problem} onRetry={nearest.reload} />}
      {matching.length === 0 && <p class="quiet">No key of media is called “{search}”.</p>}
      <div class={`media media-${size || "m"}`}>
        {names.map((key) => (
          <MediaCard
            key={key}
            name={key}
            value={values[key] ?? null}
            isAsked={nearest.value !== undefined}
            step={step}
            hasMarks={hasMarks}
            onStep={(to) => goTo(placeOf(steps, to))}
            onMove={move}
          />
        ))}
      </div>
      {matching.length > names.length && (
        <p class="media-more">
          Showing {count(names.length)} of {counted(matching.length, "key")}.{" "}
          {names.length < AT_ONCE ? (
            <Button kind="quiet" onClick={() => setMost(AT_ONCE)}>
              Show {matching.length > AT_ONCE ? count(AT_ONCE) : "all"}
            </Button>
          ) : (
            "Search for the others by name."
          )}
        </p>
      )}
    </>
  );
}

/** The values of the step before stay until those of the next are here: nothing flickers. */
function useLast(answer: Answer<{ values: Record<string, LoggedValue> }>): Record<string, LoggedValue> {
  const last = useRef<Record<string, LoggedValue>>({});
  if (answer.value) last.current = answer.value.values;
  return last.current;
}

function ownCommands(
  move: (by: number) => void,
  goTo: (index: number) => void,
  search: () => void,
  length: number,
): Command[] {
  const group = "Media";
  return [
    { id: "media.before", title: "Step before", group, keys: "[", run: () => move(-1) },
    { id: "media.after", title: "Next step", group, keys: "]", run: () => move(1) },
    { id: "media.first", title: "First step", group, keys: "{", run: () => goTo(0) },
    { id: "media.last", title: "Last step", group, keys: "}", run: () => goTo(length - 1) },
    { id: "media.search", title: "Search media", group, keys: "/", run: search },
  ];
}
