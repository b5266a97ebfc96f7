// The left side, as wide as one drags it; the browser remembers the width.

import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";

const NAME = "strobe.list-width";
const LEAST = 240;
const MOST = 900;

/** `preferred` is as wide as what is in it wants to be, unless somebody has dragged it. */
export function Split({
  preferred,
  children,
}: {
  preferred: number;
  children: ComponentChildren;
}): JSX.Element {
  const [own, setWidth] = useState(kept);
  const width = own ?? Math.min(preferred, Math.round(window.innerWidth * 0.45));
  const side = useRef<HTMLDivElement>(null);
  const from = useRef<number | null>(null);
  const size = (to: number): void => keep(Math.round(Math.max(LEAST, Math.min(MOST, to))));
  const forget = (): void => keep(null);
  const keep = (next: number | null): void => {
    setWidth(next);
    try {
      if (next === null) localStorage.removeItem(NAME);
      else localStorage.setItem(NAME, String(next));
    } catch (error) {
      // A browser may be told to keep nothing: then the width lasts as long as the page.
      if (!(error instanceof DOMException)) throw error;
    }
  };
  return (
    <div class="split" ref={side} style={{ "--list-width": `${width}px` } as JSX.CSSProperties}>
      {children}
      {/* biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved */}
      <div
        class="split-handle"
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label="Width of the run list"
        aria-valuenow={width}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        onPointerDown={(event) => {
          from.current = event.clientX - width;
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => from.current !== null && size(event.clientX - from.current)}
        onPointerUp={() => {
          from.current = null;
        }}
        onDblClick={forget}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -20, ArrowRight: 20 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          size(width + step);
        }}
      />
    </div>
  );
}

function kept(): number | null {
  try {
    return Number(localStorage.getItem(NAME)) || null;
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}
