// Where a scroll bar stands and which line that is. Browsers refuse elements of more than some ten million pixels, so
// with many lines a pixel of the scroll bar is more than a pixel of text. Pure.

export interface Extent {
  readonly total: number;
  readonly rowHeight: number;
  /** Height of what is seen. */
  readonly view: number;
}

/** The tallest element that every browser takes. */
const TALLEST = 8_000_000;

/** The height of what is scrolled over. */
export function tallOf({ total, rowHeight }: Extent): number {
  return Math.min(total * rowHeight, TALLEST);
}

/** Return the line at the top (with a fraction) for a place of the scroll bar. */
export function lineAtScroll(extent: Extent, scrollTop: number): number {
  const { total, rowHeight, view } = extent;
  const all = total * rowHeight - view;
  const room = tallOf(extent) - view;
  if (all <= 0 || room <= 0) return 0;
  return Math.min(1, Math.max(0, scrollTop / room)) * (all / rowHeight);
}

/** Return the place of the scroll bar at which a line is at the top. */
export function scrollForLine(extent: Extent, line: number): number {
  const { total, rowHeight, view } = extent;
  const all = total * rowHeight - view;
  const room = tallOf(extent) - view;
  if (all <= 0 || room <= 0) return 0;
  return Math.min(1, Math.max(0, (line * rowHeight) / all)) * room;
}
