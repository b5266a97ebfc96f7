// Mouse, pen and fingers over a plot, told as gestures. Positions are CSS pixels from the area's corner.
// Mouse: drag selects, shift-drag (or the middle button) pans, ctrl-wheel zooms. Touch: one finger moves the
// crosshair while the page still scrolls up and down, two fingers zoom and pan.

export interface Gestures {
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(): void;
  /** While dragging, and once more with `done`; a drag that is given up ends with `cancel`. */
  select(from: number, to: number, done: boolean): void;
  pan(by: number, done: boolean): void;
  zoom(x: number, factor: number, done: boolean): void;
  cancel(): void;
}

/** A mouse moves this much during a click. */
const CLICK_SLOP = 4;
/** The wheel has come to rest. */
const WHEEL_REST_MS = 150;

type Drag = { kind: "select" | "pan"; from: number; last: number; moved: boolean };

export function followPointer(area: HTMLElement, gestures: Gestures): () => void {
  const fingers = new Map<number, { x: number; y: number }>();
  let drag: Drag | null = null;
  let pinch: { centre: number; spread: number } | null = null;
  let wheelRest: ReturnType<typeof setTimeout> | undefined;
  const ending = new AbortController();
  const { signal } = ending;

  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const measurePinch = (): { centre: number; spread: number } => {
    const [a = 0, b = 0] = [...fingers.values()].map((finger) => finger.x);
    return { centre: (a + b) / 2, spread: Math.max(24, Math.abs(a - b)) };
  };

  const touchElsewhere = (event: PointerEvent): void => {
    if (area.contains(event.target as Node)) return;
    document.removeEventListener("pointerdown", touchElsewhere);
    gestures.leave();
  };

  const down = (event: PointerEvent): void => {
    const at = place(event);
    if (event.pointerType === "touch") {
      fingers.set(event.pointerId, at);
      if (fingers.size === 2) pinch = measurePinch();
      else if (fingers.size === 1) gestures.hover(at.x, at.y);
      // a finger that is lifted leaves the crosshair to be read, until the next touch elsewhere
      document.addEventListener("pointerdown", touchElsewhere, { signal });
      return;
    }
    if (event.button > 1) return;
    area.setPointerCapture(event.pointerId);
    const isPan = event.shiftKey || event.button === 1;
    drag = { kind: isPan ? "pan" : "select", from: at.x, last: at.x, moved: false };
  };

  const move = (event: PointerEvent): void => {
    const at = place(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
    if (pinch !== null && fingers.size === 2) {
      const now = measurePinch();
      gestures.pan(pinch.centre - now.centre, false);
      gestures.zoom(now.centre, pinch.spread / now.spread, false);
      pinch = now;
      return;
    }
    if (drag === null) {
      gestures.hover(at.x, at.y);
      return;
    }
    if (!drag.moved && Math.abs(at.x - drag.from) < CLICK_SLOP) return;
    drag.moved = true;
    if (drag.kind === "select") {
      gestures.select(drag.from, at.x, false);
      gestures.hover(at.x, at.y);
    } else gestures.pan(drag.last - at.x, false);
    drag.last = at.x;
  };

  const up = (event: PointerEvent): void => {
    const at = place(event);
    const wasFinger = fingers.delete(event.pointerId);
    if (pinch !== null) {
      if (fingers.size < 2) {
        pinch = null;
        gestures.zoom(at.x, 1, true);
      }
      return;
    }
    if (wasFinger || drag === null) return;
    const { kind, from, moved } = drag;
    drag = null;
    if (!moved) gestures.click(at.x, at.y);
    else if (kind === "select") gestures.select(from, at.x, true);
    else gestures.pan(0, true);
  };

  const giveUp = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    if (drag === null && pinch === null) return;
    drag = null;
    pinch = null;
    gestures.cancel();
  };

  const leave = (event: PointerEvent): void => {
    if (event.pointerType !== "touch" && drag === null) gestures.leave();
  };

  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { x } = place(event);
    gestures.zoom(x, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), false);
    clearTimeout(wheelRest);
    wheelRest = setTimeout(() => gestures.zoom(x, 1, true), WHEEL_REST_MS);
  };

  area.addEventListener("pointerdown", down, { signal });
  area.addEventListener("pointermove", move, { signal });
  area.addEventListener("pointerup", up, { signal });
  area.addEventListener("pointercancel", giveUp, { signal });
  area.addEventListener("pointerleave", leave, { signal });
  area.addEventListener("dblclick", () => gestures.doubleClick(), { signal });
  area.addEventListener("wheel", wheel, { signal, passive: false });
  return () => {
    clearTimeout(wheelRest);
    ending.abort();
  };
}
