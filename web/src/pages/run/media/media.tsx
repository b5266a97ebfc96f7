// All media of a run at one step: a slider over the steps that were logged moves every key at once; a key without
// something at that step shows what it had last.

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Link } from "../../../app/navigation";
import { type Command, useCommands } from "../../../keys/commands";
import { count, counted } from "../../../series/format";
import { Button } from "../../../ui/button";
import { Select, TextField } from "../../../ui/field";
import { EmptyState, ErrorNote } from "../../../ui/note";
import { useRun } from "../model";
import { useParam } from "../params";
import { MediaCard } from "./card";
import { StepSlider, useStepKeys } from "./step-slider";
import { placeOf } from "./steps";
import { useMediaAt, useMediaKeys } from "./use-media";
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
  const { keys, answer: known } = useMediaKeys();
  const [search, setSearch] = useParam("q");
  const [size, setSize] = useParam("size");
  const [marks, setMarks] = useParam("marks");
  const [most, setMost] = useState(AT_FIRST);
  const field = useRef<HTMLInputElement>(null);
  const matching = useMemo(
    () => (keys ?? []).filter((one) => one.key.toLowerCase().includes(search.trim().toLowerCase())),
    [keys, search],
  );
  const names = matching.slice(0, Math.min(most, AT_ONCE)).map((one) => one.key);
  const { steps, step, place, values, stepsOf, nearest, goTo, move } = useMediaAt(names);
  useStepKeys(move, goTo, steps.length);
  useCommands(useMemo(() => [searchCommand(() => field.current?.focus())], []));
  if (known.problem && !known.value) return <ErrorNote error={known.problem} onRetry={known.reload} />;
  if (keys === null) return <div aria-busy="true" />;
  if (keys.length === 0) {
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
          <Link
            class="button"
            to={{ name: "run", entity: model.entity, project: model.project, run: model.id, tab: "charts" }}
            search={`?media=1${step === null ? "" : `&step=${step}`}`}
          >
            Charts here
          </Link>
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

function searchCommand(run: () => void): Command {
  return { id: "media.search", title: "Search media", group: "Media", keys: "/", run };
}
