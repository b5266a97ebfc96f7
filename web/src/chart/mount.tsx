// Panels exist only while they are on the screen or near it: <OnScreen> keeps the place of its children and makes them
// when it comes near. Widths come from one observer for all, so that no chart asks the page to lay itself out.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** How far outside the window a panel is already (or still) there. */
const MARGIN = "320px 0px";

type Heard<Entry> = (entry: Entry) => void;

/** One observer shared by many elements, each with its own listener. */
function sharedObserver<Entry extends { readonly target: Element }>(
  create: (heard: (entries: Entry[]) => void) => { observe(e: Element): void; unobserve(e: Element): void },
): (element: Element, heard: Heard<Entry>) => () => void {
  const listeners = new WeakMap<Element, Heard<Entry>>();
  let observer: ReturnType<typeof create> | null = null;
  return (element, heard) => {
    observer ??= create((entries) => {
      for (const entry of entries) listeners.get(entry.target)?.(entry);
    });
    listeners.set(element, heard);
    observer.observe(element);
    return () => {
      listeners.delete(element);
      observer?.unobserve(element);
    };
  };
}

/** Tell when an element comes near the window or leaves it; returns how to stop. */
export const watchNear = sharedObserver<IntersectionObserverEntry>((heard) => {
  // In a pane that scrolls by itself rootMargin means nothing; where there is scrollMargin, it serves both.
  const hasScrollMargin = "scrollMargin" in IntersectionObserver.prototype;
  const options = hasScrollMargin ? { scrollMargin: MARGIN } : { rootMargin: MARGIN };
  return new IntersectionObserver(heard, options as IntersectionObserverInit);
});

/** Tell the size of an element, at once and whenever it changes; returns how to stop. */
export const watchSize = sharedObserver<ResizeObserverEntry>((heard) => new ResizeObserver(heard));

export interface OnScreenProps {
  /** CSS pixels, kept while the children are not there. */
  readonly height: number;
  readonly class?: string;
  readonly children: () => ComponentChildren;
}

/** Hold the place of what `children()` gives, and hold that only while it is near the window. */
export function OnScreen({ height, class: name, children }: OnScreenProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useLayoutEffect(() => {
    if (holder.current === null) return;
    return watchNear(holder.current, (entry) => setNear(entry.isIntersecting));
  }, []);
  return (
    <div ref={holder} class={name} style={{ minHeight: `${height}px` }}>
      {isNear ? children() : null}
    </div>
  );
}
