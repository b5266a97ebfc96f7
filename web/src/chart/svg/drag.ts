// Dragging inside an SVG, in its own pixels.

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface DragEvents {
  /** While dragging and at its end; `from` is where it began. */
  readonly move: (from: Place, to: Place) => void;
  /** Pressed and let go at one place. */
  readonly click?: (at: Place) => void;
}

const SLOP = 3;

/** Follow a drag that begins with this event until the button is let go. */
export function followDrag(event: PointerEvent, events: DragEvents): void {
  const target = event.currentTarget as SVGElement;
  const svg = target.ownerSVGElement ?? (target as SVGSVGElement);
  if (event.button !== 0) return;
  const place = (at: PointerEvent): Place => {
    const box = svg.getBoundingClientRect();
    return { x: at.clientX - box.left, y: at.clientY - box.top };
  };
  const from = place(event);
  let hasMoved = false;
  const ending = new AbortController();
  const { signal } = ending;
  target.setPointerCapture(event.pointerId);
  const move = (at: PointerEvent): void => {
    const to = place(at);
    hasMoved ||= Math.hypot(to.x - from.x, to.y - from.y) > SLOP;
    if (hasMoved) events.move(from, to);
  };
  target.addEventListener("pointermove", move as EventListener, { signal });
  target.addEventListener(
    "pointerup",
    () => {
      ending.abort();
      if (!hasMoved) events.click?.(from);
    },
    { signal },
  );
  target.addEventListener("pointercancel", () => ending.abort(), { signal });
}
