// A panel that opens from a control: the browser's own popover, so Escape, clicks elsewhere and focus behave as they do
// everywhere. Its content is there only while it is open.

import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import "./popover.css";

/** To be spread onto the button that opens it. */
export interface TriggerProps {
  popovertarget: string;
  "aria-expanded": boolean;
  "aria-haspopup": "menu" | "dialog" | "listbox";
}

export interface PopoverProps {
  label: string;
  role?: "menu" | "dialog" | "listbox";
  align?: "start" | "end";
  class?: string;
  trigger: (props: TriggerProps) => ComponentChildren;
  children: (close: () => void) => ComponentChildren;
}

export function Popover({
  label,
  role = "dialog",
  align = "start",
  trigger,
  children,
  ...rest
}: PopoverProps): JSX.Element {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (!isOpen) return;
    // It is told that it opens before it does, and has no size until then; this is before it is painted.
    const frame = requestAnimationFrame(() => {
      const shown = panel.current;
      const anchor = document.querySelector(`[popovertarget="${id}"]`);
      if (!shown || !anchor) return;
      place(shown, anchor, align);
      shown.querySelector<HTMLElement>("[autofocus], [data-first]")?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [isOpen, id, align]);
  const close = (): void => panel.current?.hidePopover();
  return (
    <>
      {trigger({ popovertarget: id, "aria-expanded": isOpen, "aria-haspopup": role })}
      <div
        ref={panel}
        id={id}
        popover="auto"
        {...{ role, "aria-label": label }}
        class={`popover ${rest.class ?? ""}`}
        onBeforeToggle={(event: Event) => {
          if (event.target === panel.current) setOpen((event as ToggleEvent).newState === "open");
        }}
      >
        {isOpen && children(close)}
      </div>
    </>
  );
}

const GAP = 4;
const MARGIN = 8;

/** Put the panel below its control, or above where there is more room, always inside the window. */
function place(panel: HTMLElement, anchor: Element, align: "start" | "end"): void {
  const at = anchor.getBoundingClientRect();
  const below = window.innerHeight - at.bottom - GAP - MARGIN;
  const above = at.top - GAP - MARGIN;
  const { offsetWidth: width, offsetHeight: height } = panel;
  const isAbove = height > below && above > below;
  const left = align === "start" ? at.left : at.right - width;
  panel.style.left = `${Math.max(MARGIN, Math.min(left, window.innerWidth - width - MARGIN))}px`;
  // Held where it touches its control: what is typed in it may change how high it is.
  panel.style.top = isAbove ? "auto" : `${at.bottom + GAP}px`;
  panel.style.bottom = isAbove ? `${window.innerHeight - at.top + GAP}px` : "auto";
  panel.style.maxHeight = `${Math.max(120, isAbove ? above : below)}px`;
}
