// A list of any length: only the rows in view are in the document. All rows are equally high.

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren, JSX, Ref } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import "./virtual.css";

export interface VirtualListHandle {
  /** Bring a row into view, by as little as possible. */
  show(index: number): void;
  readonly element: HTMLElement | null;
}

export interface VirtualListProps {
  count: number;
  rowHeight: number;
  /** The content of a row; it is put where it belongs. */
  row: (index: number) => ComponentChildren;
  /** What makes a row the same row when others come before it. */
  keyOf?: (index: number) => string | number;
  label: string;
  /** Roles of the list and of its rows. */
  role?: "list" | "listbox" | "grid" | "tree";
  class?: string;
  handle?: Ref<VirtualListHandle>;
  /** Stays at the top inside the scroller, such as the head of a table. */
  head?: ComponentChildren;
  /** Called with the rows in view, for what is to be loaded. */
  onRange?: (first: number, last: number) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  attributes?: JSX.HTMLAttributes<HTMLDivElement>;
}

const OVERSCAN = 8;

export function VirtualList({
  count,
  rowHeight,
  row,
  keyOf,
  label,
  role = "list",
  head,
  handle,
  ...rest
}: VirtualListProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [, render] = useState(0);
  const virtual = useMemo(
    () =>
      new Virtualizer<HTMLDivElement, HTMLDivElement>({
        count: 0,
        getScrollElement: () => scroller.current,
        estimateSize: () => rowHeight,
        observeElementRect,
        observeElementOffset,
        scrollToFn: elementScroll,
      }),
    [rowHeight],
  );
  virtual.setOptions({
    ...virtual.options,
    count,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    getItemKey: keyOf ?? ((index) => index),
    onChange: () => render((round) => round + 1),
  });
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  useImperativeHandle(
    handle ?? null,
    () => ({
      show: (index) => virtual.scrollToIndex(index, { align: "auto" }),
      get element() {
        return scroller.current;
      },
    }),
    [virtual],
  );
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  const { onRange } = rest;
  useEffect(() => onRange?.(first, last), [onRange, first, last]);
  return (
    <div
      {...{ tabIndex: 0, role, "aria-label": label, onKeyDown: rest.onKeyDown, ...rest.attributes }}
      ref={scroller}
      class={`virtual ${rest.class ?? ""}`}
    >
      {head}
      <div class="virtual-all" role="presentation" style={{ height: `${virtual.getTotalSize()}px` }}>
        <div
          class="virtual-window"
          role="presentation"
          style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
        >
          {items.map((item) => (
            <div
              key={item.key}
              class="virtual-row"
              {...(role === "list"
                ? { role: "listitem", "aria-setsize": count, "aria-posinset": item.index + 1 }
                : { role: "presentation" })}
              style={{ height: `${rowHeight}px` }}
            >
              {row(item.index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
