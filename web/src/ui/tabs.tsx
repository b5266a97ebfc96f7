// Tabs as links: each has an address, so back, bookmarks and new tabs work.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Link } from "../app/navigation";
import type { Page } from "../app/route";
import "./tabs.css";

export interface Tab {
  id: string;
  title: string;
  to: Page | string;
  /** Shown beside the title: a number, a dot. */
  note?: ComponentChildren;
}

export function Tabs({
  label,
  tabs,
  chosen,
}: {
  label: string;
  tabs: readonly Tab[];
  chosen: string;
}): JSX.Element {
  const row = useRef<HTMLElement>(null);
  const shown = useRef("");
  useLayoutEffect(() => {
    // Numbers beside titles come later and make the row wider; who scrolled it is not disturbed otherwise.
    const now = `${chosen} ${row.current?.scrollWidth}`;
    if (now !== shown.current) showChosen(row.current);
    shown.current = now;
  });
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.id} to={tab.to} class="tab" aria-current={tab.id === chosen ? "page" : undefined}>
          {tab.title}
          {tab.note !== undefined && <span class="tab-note">{tab.note}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** On a narrow screen the row scrolls: the chosen tab and a piece of its neighbours are in it. */
function showChosen(row: HTMLElement | null): void {
  const chosen = row?.querySelector<HTMLElement>("[aria-current]");
  if (!row || !chosen) return;
  const left = chosen.offsetLeft - row.offsetLeft;
  const spare = 40;
  if (left < row.scrollLeft + spare) row.scrollLeft = left - spare;
  else if (left + chosen.offsetWidth + spare > row.scrollLeft + row.clientWidth)
    row.scrollLeft = left + chosen.offsetWidth + spare - row.clientWidth;
}

export interface SegmentsProps<T extends string> {
  label: string;
  options: readonly { value: T; title: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** A few choices side by side, one of them chosen. */
export function Segments<T extends string>({
  label,
  options,
  value,
  onChange,
}: SegmentsProps<T>): JSX.Element {
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          class="segment"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.title}
        </button>
      ))}
    </fieldset>
  );
}
