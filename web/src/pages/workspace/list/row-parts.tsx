// What rows of runs and of groups have in common: the frame with its highlight, the value under the crosshair, the
// swatch. What follows the pointer is written into the row without rendering it.

import { computed, useComputed } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { highlighted, readings } from "../../../chart/crosshair";
import { number } from "../../../series/format";
import { ownerOf } from "../data/lines";
import { CELL, ROW } from "./grid-roles";

/** A finger does not hover: what shows when the pointer is near is always there for it. */
export const hasFinger = matchMedia("(pointer: coarse)").matches;

export interface RowFrameProps {
  readonly id: string;
  readonly isAt: boolean;
  readonly isSelected: boolean;
  readonly isDim: boolean;
  readonly onNear?: (isNear: boolean) => void;
  readonly onPoint: (event: MouseEvent) => void;
  readonly children: ComponentChildren;
  readonly isGroup?: boolean;
}

/** A row with its highlight, which changes without rendering it. */
export function RowFrame(props: RowFrameProps): JSX.Element {
  const { id, isAt, isSelected, isDim } = props;
  const name = `row${isAt ? " row-at" : ""}${isSelected ? " row-selected" : ""}${isDim ? " row-dim" : ""}${props.isGroup ? " row-group" : ""}`;
  const classes = useMemo(
    () => computed(() => (highlighted.value === id ? `${name} row-high` : name)),
    [name, id],
  );
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    // biome-ignore lint/a11y/noStaticElementInteractions: it has the role of a row
    <div
      id={`row-${id}`}
      {...{ ...ROW, "aria-selected": isSelected }}
      class={classes}
      onPointerEnter={() => {
        highlighted.value = id;
        props.onNear?.(true);
      }}
      onPointerLeave={() => {
        if (highlighted.peek() === id) highlighted.value = null;
        props.onNear?.(false);
      }}
      onFocusCapture={() => props.onNear?.(true)}
      onClick={props.onPoint}
    >
      {props.children}
    </div>
  );
}

/** The value under the crosshair; while there is none, what is drawn small. */
export function Reading({ owner, spark }: { owner: string; spark: JSX.Element | null }): JSX.Element {
  const reading = useComputed(() => {
    const now = readings.value;
    if (now === null) return null;
    for (const [line, found] of now.values) {
      if (ownerOf(line) === owner) return { text: number(found.y), isFar: isFar(found.x, now.x) };
    }
    return { text: "", isFar: false };
  });
  const isReading = useComputed(() => reading.value !== null);
  const text = useComputed(() => reading.value?.text ?? "");
  const look = useComputed(() => (reading.value?.isFar ? "row-value row-far" : "row-value"));
  return (
    <span class="row-reading" {...CELL}>
      {isReading.value ? <span class={look}>{text}</span> : spark}
    </span>
  );
}

/** A run that ended long before the crosshair shows its last value, but not as if it were there. */
function isFar(x: number, at: number): boolean {
  return Math.abs(x - at) > 0.05 * Math.max(Math.abs(at), 1);
}

export function Swatch({
  colour,
  dash,
  isDrawn,
}: {
  colour: string;
  dash: readonly number[];
  isDrawn: boolean;
}): JSX.Element {
  return (
    <svg
      class={`swatch${isDrawn ? "" : " swatch-off"}`}
      width="14"
      height="10"
      viewBox="0 0 14 10"
      aria-hidden="true"
    >
      {isDrawn ? (
        <line
          x1="0"
          y1="5"
          x2="14"
          y2="5"
          stroke={colour}
          stroke-width="3"
          stroke-dasharray={dash.join(" ") || undefined}
        />
      ) : (
        <circle cx="7" cy="5" r="2.5" fill="none" stroke={colour} stroke-width="1.5" />
      )}
    </svg>
  );
}
