// Draws lines onto a surface: bands under everything, faint lines, lines, then what no line can show
// (NaN, infinities, values cut off by clipping) as marks at the edge of the plot.

import type { Line, MarkKind } from "../series/curve";
import type { Clip } from "./extent";
import { isSorted, windowOf } from "./lookup";
import type { PixelScale } from "./scale";
import { type SideScales, scaleOf, sidesOf } from "./sides";
import type { Box, PathStyle, Surface } from "./surface";
import { type Dot, traceBand, traceLine, traceSpikes } from "./trace";

export interface Scene extends SideScales {
  readonly lines: readonly Line[];
  readonly xs: PixelScale;
  readonly box: Box;
  /** Pixels of the surface for each CSS pixel. */
  readonly ratio: number;
  /** Values outside are shown as arrows at the edge. */
  readonly clip: Clip | null;
  /** Turn a colour as lines have it into one that the surface understands. */
  readonly colourOf: (colour: string) => string;
}

const BAND_ALPHA = 0.18;
const SPIKE_ALPHA = 0.55;
const FAINT_ALPHA = 0.4;
/** Points this far apart (in CSS pixels) are worth a dot each. */
const SPARSE = 24;
const DOT_RADIUS = 2.2;
/** Points for each pixel column from which on a line is painted by pixels. */
const DENSE = 0.5;
/** A wider pen reaches over more columns than the next, which is all that pixels take into account. */
const WIDEST = 3;

export function paintLines(surface: Surface, scene: Scene): void {
  const { box } = scene;
  const { left, right } = sidesOf(scene.lines);
  // what the right axis measures lies under the rest
  const lines = right.length === 0 ? left : [...right, ...left];
  const dots: Dots[] = [];
  surface.within(box, () => {
    for (const line of lines) paintBand(surface, scene, line);
    for (const line of lines) if (line.faint) dots.push(paintLine(surface, scene, line, 1));
    for (const line of lines) if (!line.faint) dots.push(paintLine(surface, scene, line, 1));
  });
  for (const one of dots) paintDots(surface, scene, one);
  for (const line of lines) {
    paintMarks(surface, scene, line);
    if (scene.clip !== null && !line.faint && !line.isRight) paintClipped(surface, scene, line, scene.clip);
  }
}

export function paintBand(surface: Surface, scene: Scene, line: Line): void {
  const { low, high } = line;
  if (low === null || high === null || line.faint) return;
  const fill = scene.colourOf(line.colour);
  const ys = scaleOf(line, scene);
  surface.path({ fill, alpha: BAND_ALPHA }, (pen) => traceBand(pen, line.x, low, high, scene.xs, ys));
  const { xs, ratio } = scene;
  if (!isDense(scene, line)) return;
  const style = { stroke: fill, width: ratio, alpha: SPIKE_ALPHA, isCrowded: true };
  surface.path(style, (pen) => traceSpikes(pen, line.x, low, high, xs, ys, ratio));
}

/** Whether a line has so many points that several lie side by side within a few pixels. */
function isDense({ box, xs }: Scene, line: Line): boolean {
  const [first, last] = windowOf(line.x, xs.min, xs.max);
  return last - first > box.width * DENSE && isSorted(line.x);
}

/** Points of a line that stand for themselves: pairs of x and y in pixels. */
export interface Dots {
  readonly style: PathStyle;
  readonly radius: number;
  readonly centres: readonly number[];
}

/** Draw one line, `emphasis` times as thick, and return its dots. */
export function paintLine(surface: Surface, scene: Scene, line: Line, emphasis: number): Dots {
  const { xs, ratio } = scene;
  const ys = scaleOf(line, scene);
  const colour = scene.colourOf(line.colour);
  const alpha = line.faint ? FAINT_ALPHA : 1;
  const width = line.width * ratio * emphasis;
  const alone: number[] = [];
  const [first, last] = windowOf(line.x, xs.min, xs.max);
  const dash = line.dash.map((length) => length * ratio);
  const style = { stroke: colour, width, dash, alpha, isCrowded: last - first > scene.box.width };
  const dot: Dot = (x, y) => alone.push(x, y);
  if (surface.pixels !== undefined && isDense(scene, line) && dash.length === 0 && width <= WIDEST)
    surface.pixels(style, { x: line.x, y: line.y, xs, ys }, dot);
  else surface.path(style, (pen) => traceLine(pen, line.x, line.y, xs, ys, dot));
  const isSparse = !line.faint && (last - first) * SPARSE * ratio < scene.box.width;
  return {
    style: { fill: colour, alpha },
    radius: Math.max(DOT_RADIUS * ratio, width * 0.9),
    centres: isSparse ? everyPoint(line, xs, ys) : alone,
  };
}

function everyPoint(line: Line, xs: PixelScale, ys: PixelScale): number[] {
  const centres: number[] = [];
  for (let i = 0; i < line.x.length; i++) {
    const value = line.y[i] as number;
    if (value > ys.floor) centres.push(xs.at(line.x[i] as number), ys.at(value));
  }
  return centres;
}

/** Draw dots whole, also those whose centre lies on the edge of the plot. */
export function paintDots(surface: Surface, { box, ratio }: Scene, { style, radius, centres }: Dots): void {
  const reach = ratio / 2;
  for (let i = 0; i < centres.length; i += 2) {
    const x = centres[i] as number;
    const y = centres[i + 1] as number;
    const isInX = x >= box.left - reach && x <= box.left + box.width + reach;
    if (isInX && y >= box.top - reach && y <= box.top + box.height + reach) surface.disc(style, x, y, radius);
  }
}

const MARK_SIZE = 4;

function paintMarks(surface: Surface, scene: Scene, line: Line): void {
  const { xs, box, ratio } = scene;
  const size = MARK_SIZE * ratio;
  const colour = scene.colourOf(line.colour);
  const bottom = box.top + box.height;
  const seen = new Set<string>();
  for (const { x, kind } of line.marks) {
    if (x < xs.min || x > xs.max) continue;
    const px = xs.at(x);
    // marks on the same few pixels are one
    const place = `${kind}${Math.round(px / size)}`;
    if (seen.has(place)) continue;
    seen.add(place);
    paintMark(surface, kind, px, kind === "posinf" ? box.top : bottom, size, colour, ratio);
  }
}

function paintMark(
  surface: Surface,
  kind: MarkKind,
  x: number,
  edge: number,
  size: number,
  colour: string,
  ratio: number,
): void {
  if (kind === "nan") {
    const y = edge - size;
    const arm = size * 0.7;
    surface.path({ stroke: colour, width: 1.5 * ratio }, (pen) => {
      pen.moveTo(x - arm, y - arm);
      pen.lineTo(x + arm, y + arm);
      pen.moveTo(x - arm, y + arm);
      pen.lineTo(x + arm, y - arm);
    });
    return;
  }
  const inward = kind === "posinf" ? 1 : -1;
  surface.path({ fill: colour }, (pen) => {
    pen.moveTo(x, edge);
    pen.lineTo(x - size, edge + inward * size * 1.5);
    pen.lineTo(x + size, edge + inward * size * 1.5);
    pen.lineTo(x, edge);
  });
}

/** Draw a chevron wherever a line leaves through the edge that clipping made. */
function paintClipped(surface: Surface, scene: Scene, line: Line, clip: Clip): void {
  const { xs, box, ratio } = scene;
  const size = MARK_SIZE * ratio;
  const [first, last] = windowOf(line.x, xs.min, xs.max);
  const isOrdered = isSorted(line.x);
  let lastUp = Number.NaN;
  let lastDown = Number.NaN;
  surface.path({ stroke: scene.colourOf(line.colour), width: 1.5 * ratio }, (pen) => {
    const chevron = (px: number, edge: number, inward: number): void => {
      pen.moveTo(px - size, edge + inward * (size + ratio));
      pen.lineTo(px, edge + inward * ratio);
      pen.lineTo(px + size, edge + inward * (size + ratio));
    };
    for (let i = first; i < last; i++) {
      const value = line.y[i] as number;
      if (!(value > clip.high || value < clip.low)) continue;
      const x = line.x[i] as number;
      if (x < xs.min || x > xs.max) continue;
      const px = xs.at(x);
      if (value > clip.high) {
        if (isOrdered && px - lastUp < 2 * size) continue;
        lastUp = px;
        chevron(px, box.top, 1);
      } else {
        if (isOrdered && px - lastDown < 2 * size) continue;
        lastDown = px;
        chevron(px, box.top + box.height, -1);
      }
    }
  });
}
