// What the lines of a panel are: which dash or colour is which metric, and which group with how many runs.

import type { JSX } from "preact";
import type { Line } from "../../../series/curve";
import { DASHES } from "../../../series/palette";
import { type DrawnStyle, keyColour, ownerOf } from "../data/lines";
import { keyTitle, type PanelKeys } from "./right-axis";
import type { PanelSpec } from "./specs";

export interface LegendEntry {
  readonly id: string;
  readonly text: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly isRight: boolean;
}

export interface LegendOf {
  readonly lines: readonly Line[];
  readonly keys: PanelKeys;
  readonly spec: PanelSpec;
  /** A single run: colours tell keys apart. */
  readonly isLone: boolean;
  /** By id, null if runs are drawn one by one. */
  readonly groups: ReadonlyMap<string, DrawnStyle> | null;
}

/** Return the entries: keys where there are several, then groups with the number of runs that each stands for. */
export function legendEntries({ lines, keys, spec, isLone, groups }: LegendOf): LegendEntry[] {
  const entries: LegendEntry[] = [];
  if (keys.drawn.length > 1) {
    keys.drawn.forEach((key, place) => {
      const isRight = keys.right.has(key);
      entries.push({
        id: `key ${key}`,
        text: keyTitle(key, keys, spec),
        colour: isLone ? keyColour(key) : "currentColor",
        dash: isLone ? [] : (DASHES[place % DASHES.length] ?? []),
        isRight,
      });
    });
  }
  const members = new Map<string, number>();
  for (const line of lines) {
    // with several keys, not all runs may have each
    if (!line.faint)
      members.set(ownerOf(line.id), Math.max(line.members, members.get(ownerOf(line.id)) ?? 0));
  }
  for (const [id, { label, colour, dash }] of groups ?? []) {
    const n = members.get(id);
    if (n === undefined) continue;
    entries.push({ id: `group ${id}`, text: `${label} (n = ${n})`, colour, dash, isRight: false });
  }
  return entries;
}

/** Entries of a small panel, which has one row for them; the rest is told. */
const MOST = 4;
export const LEGEND_HEIGHT = 20;

export function Legend({
  entries,
  isWhole,
}: {
  entries: readonly LegendEntry[];
  isWhole?: boolean;
}): JSX.Element {
  const shown = isWhole || entries.length <= MOST + 1 ? entries : entries.slice(0, MOST);
  const rest = entries.slice(shown.length);
  return (
    <ul class={`panel-legend${isWhole ? " panel-legend-whole" : ""}`} aria-label="Lines">
      {shown.map(({ id, text, colour, dash, isRight }) => (
        <li key={id} title={isRight ? `${text}, right axis` : text}>
          <svg width="18" height="6" aria-hidden="true">
            <line
              x1="0"
              y1="3"
              x2="18"
              y2="3"
              stroke={colour}
              stroke-width="2"
              stroke-dasharray={dash.join(" ") || undefined}
            />
          </svg>
          <span class="cut">{text}</span>
          {isRight && <span class="panel-legend-side">right</span>}
        </li>
      ))}
      {rest.length > 0 && (
        <li class="panel-legend-rest" title={rest.map((entry) => entry.text).join("\n")}>
          +{rest.length}
        </li>
      )}
    </ul>
  );
}
