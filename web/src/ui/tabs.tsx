// Tabs as links: each has an address, so back, bookmarks and new tabs work.

import type { ComponentChildren, JSX } from "preact";
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
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.id} to={tab.to} class="tab" aria-current={tab.id === chosen ? "page" : undefined}>
          {tab.title}
          {tab.note !== undefined && <span class="tab-note">{tab.note}</span>}
        </Link>
      ))}
    </nav>
  );
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
