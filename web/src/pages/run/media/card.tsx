// What one key has at the step: its items in a grid, and for histograms all steps at once.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, counted } from "../../../series/format";
import type { Paged } from "../../../server/types";
import { Button, IconButton } from "../../../ui/button";
import type { LoggedValue } from "../documents";
import { useFresh, useRun } from "../model";
import { HistogramOverTime } from "./histogram";
import { Item } from "./item";
import { binsOf, itemsOf } from "./records";
import { Viewer } from "./viewer";

export interface MediaCardProps {
  name: string;
  /** Null where the key has nothing up to the step. */
  value: LoggedValue | null;
  isAsked: boolean;
  step: number | null;
  hasMarks: boolean;
  onStep: (step: number) => void;
  onMove: (by: number) => void;
}

const AT_FIRST = 12;

export function MediaCard(props: MediaCardProps): JSX.Element {
  const { name, value, step, hasMarks } = props;
  const [isAll, setAll] = useState(false);
  const [open, setOpen] = useState<number | null>(null);
  const items = useMemo(() => (value === null ? [] : itemsOf(value.value)), [value]);
  const shown = isAll ? items : items.slice(0, AT_FIRST);
  const isOlder = value !== null && value.step !== step;
  return (
    <section class={`card media-card media-of-${items[0]?.kind ?? "none"}`} aria-label={name}>
      <div class="card-head">
        <h2 class="cut" title={name}>
          {name}
        </h2>
        {value !== null && (
          <span class="quiet" title={isOlder ? `Nothing was logged at step ${step}` : undefined}>
            {isOlder ? `last at step ${count(value.step)}` : `step ${count(value.step)}`}
          </span>
        )}
        <div class="card-end">
          {items.length > 0 && (
            <IconButton icon="expand" label={`Full screen: ${name}`} onClick={() => setOpen(0)} />
          )}
        </div>
      </div>
      <div class="media-items">
        {value === null && props.isAsked && <p class="quiet">Nothing was logged up to this step.</p>}
        {shown.map((item, index) => (
          <figure key={index} class="media-item">
            {item.kind === "image" ? (
              <button
                type="button"
                class="media-open"
                aria-label={`Full screen: ${item.caption || `${name} ${index + 1}`}`}
                onClick={() => setOpen(index)}
              >
                <Item item={item} title={name} hasMarks={hasMarks} />
              </button>
            ) : (
              <Item item={item} title={name} hasMarks={hasMarks} />
            )}
            {item.caption && (
              <figcaption class="cut" title={item.caption}>
                {item.caption}
              </figcaption>
            )}
          </figure>
        ))}
        {items[0]?.kind === "histogram" && <OverTime name={name} step={step} onStep={props.onStep} />}
      </div>
      {items.length > shown.length && (
        <p class="media-more">
          Showing {count(shown.length)} of {counted(items.length, "item")}.{" "}
          <Button kind="quiet" onClick={() => setAll(true)}>
            Show all
          </Button>
        </p>
      )}
      {open !== null && (
        <Viewer
          title={name}
          items={items}
          index={Math.min(open, Math.max(0, items.length - 1))}
          step={value?.step ?? null}
          hasMarks={hasMarks}
          onIndex={setOpen}
          onStep={props.onMove}
          onClose={() => setOpen(null)}
        />
      )}
    </section>
  );
}

function OverTime({
  name,
  step,
  onStep,
}: Pick<MediaCardProps, "name" | "step" | "onStep">): JSX.Element | null {
  const model = useRun();
  const { value } = useFresh<Paged<LoggedValue>>(model.api("objects", "values"), { key: name, limit: 1000 });
  const all = useMemo(
    () =>
      (value?.items ?? [])
        .filter((one) => one.type === "histogram")
        .map((one) => ({ step: one.step, bins: binsOf(one.value as Record<string, unknown>) })),
    [value],
  );
  return (
    <>
      <HistogramOverTime all={all} step={step} title={name} onStep={onStep} />
      {value?.cursor != null && (
        <p class="quiet">The first {counted(all.length, "histogram")}; later ones are shown one by one.</p>
      )}
    </>
  );
}
