// The curves that panels draw. Each is asked for once however many want it, at a fixed number of points; a zoomed chart
// shows the coarse curve at once and finer ones as they come, until each point is one that was logged. Live points
// are added in place. Panels listen to their keys alone.

import { type Signal, signal } from "@preact/signals";
import type { Curve } from "../../../series/curve";
import type { PointNews } from "../../../server/live";
import { readCurves } from "../../../server/series";
import { axisKey, type Zoom } from "../../../view/state";
import { type AskedRange, holds, rangeOf, serverAxis } from "./range";
import { Slot } from "./slot";

export interface CurveWish {
  /** Paths. */
  readonly runs: readonly string[];
  readonly keys: readonly string[];
  readonly xAxis: string;
  /** Points of each curve at most. */
  readonly pixels: number;
  readonly zoom: Zoom | null;
}

export interface CurvesNow {
  readonly curves: readonly Curve[];
  /** The same curves from end to end, whatever part is zoomed into. */
  readonly whole: readonly Curve[];
  /** Curves that are not here yet. */
  readonly waiting: number;
  readonly problem: Error | null;
  /** Whether every curve shows every logged point in view. */
  readonly isRaw: boolean;
}

/** Curves over one axis, range and width. */
interface Shelf {
  readonly xAxis: string;
  readonly range: AskedRange | null;
  readonly pixels: number;
  readonly slots: Map<string, Slot>;
  used: number;
}

/** Points held at most in all, and zoomed ranges kept for going back. */
const MOST_POINTS = 6_000_000;
const MOST_RANGES = 6;
const REPEAT_MS = 1500;

export class CurveStore {
  readonly #shelves = new Map<string, Shelf>();
  readonly #beats = new Map<string, Signal<number>>();
  readonly #wishes = new Set<CurveWish>();
  readonly #problems = new Map<string, Error>();
  #clock = 0;
  #pending = new Set<string>();
  #isScheduled = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** Grows whenever a curve of the key changes. Read it in whatever shows them. */
  beat(key: string): Signal<number> {
    let beat = this.#beats.get(key);
    if (beat === undefined) {
      beat = signal(0);
      this.#beats.set(key, beat);
    }
    return beat;
  }

  /** Want these curves until told otherwise: they are asked for, and kept up to date. */
  want(wish: CurveWish): () => void {
    this.#wishes.add(wish);
    this.#fetch(this.#shelf(wish, null), wish.runs, wish.keys);
    this.#fetchFiner(wish);
    return () => {
      this.#wishes.delete(wish);
      this.#evict();
    };
  }

  /** The keys that somebody shows now. */
  get keys(): Set<string> {
    const keys = new Set<string>();
    for (const wish of this.#wishes) for (const key of wish.keys) keys.add(key);
    return keys;
  }

  /** Return what is known of these curves: for each the finest that there is. */
  read(wish: CurveWish): CurvesNow {
    const base = this.#shelf(wish, null);
    const curves: Curve[] = [];
    const whole: Curve[] = [];
    let waiting = 0;
    let problem: Error | null = null;
    let isRaw = true;
    for (const run of wish.runs) {
      for (const key of wish.keys) {
        const slot = base.slots.get(nameOf(run, key));
        if (slot === undefined || slot.state === "asked" || slot.state === "new") {
          if (slot?.curve == null) waiting++;
        }
        if (slot?.state === "failed") problem ??= this.#problems.get(key) ?? null;
        const coarse = slot?.curve ?? null;
        if (coarse === null) continue;
        const curve = coarse.isRaw || wish.zoom === null ? coarse : (this.#finer(wish, coarse) ?? coarse);
        isRaw &&= curve.isRaw;
        curves.push(curve);
        whole.push(coarse);
      }
    }
    return { curves, whole, waiting, problem, isRaw };
  }

  /** Take in points that were logged just now. */
  append(news: PointNews): void {
    const name = nameOf(news.run, news.key);
    let hasChanged = false;
    for (const shelf of this.#shelves.values()) {
      const slot = shelf.slots.get(name);
      if (slot?.append(news, shelf.xAxis, shelf.pixels)) hasChanged = true;
    }
    if (hasChanged) this.#say(news.key);
    this.#repeatSoon();
  }

  /** Ask again for what is shown of these runs (null: of all) where it may have changed. */
  refresh(versions: ReadonlyMap<string, number> | null): void {
    for (const shelf of this.#shelves.values()) {
      for (const slot of shelf.slots.values()) {
        const version = versions === null ? Number.POSITIVE_INFINITY : versions.get(slot.run);
        if (version !== undefined && version > slot.version && slot.state !== "asked") slot.isStale = true;
      }
    }
    this.#repeat();
  }

  /** Try again what has failed. */
  retry(): void {
    for (const shelf of this.#shelves.values()) {
      for (const slot of shelf.slots.values()) if (slot.state === "failed") slot.state = "new";
    }
    this.#repeat();
  }

  stop(): void {
    clearTimeout(this.#retry);
    this.#wishes.clear();
    this.#shelves.clear();
  }

  #repeatSoon(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#repeat();
    }, REPEAT_MS);
  }

  #repeat(): void {
    for (const wish of this.#wishes) {
      this.#fetch(this.#shelf(wish, null), wish.runs, wish.keys);
      this.#fetchFiner(wish);
    }
  }

  #shelf(wish: CurveWish, range: AskedRange | null): Shelf {
    const name = `${wish.xAxis} ${wish.pixels} ${range ? `${range.first}..${range.last}` : ""}`;
    let shelf = this.#shelves.get(name);
    if (shelf === undefined) {
      shelf = { xAxis: wish.xAxis, range, pixels: wish.pixels, slots: new Map(), used: 0 };
      this.#shelves.set(name, shelf);
    }
    shelf.used = ++this.#clock;
    return shelf;
  }

  /** The shelves of finer curves that hold all that a wish shows. */
  *#finerShelves(wish: CurveWish, asked: AskedRange): Iterable<Shelf> {
    for (const shelf of this.#shelves.values()) {
      if (shelf.xAxis !== wish.xAxis || shelf.pixels !== wish.pixels || shelf.range === null) continue;
      if (holds(shelf.range, asked)) yield shelf;
    }
  }

  #finer(wish: CurveWish, coarse: Curve): Curve | null {
    const asked = rangeOf(wish.xAxis, wish.zoom as Zoom, [coarse]);
    if (asked === null) return null;
    let best: { curve: Curve; width: number } | null = null;
    for (const shelf of this.#finerShelves(wish, asked)) {
      const curve = shelf.slots.get(nameOf(coarse.run, coarse.key))?.curve;
      if (!curve) continue;
      const range = shelf.range as AskedRange;
      // Raw is as fine as can be; else the narrower range has the finer buckets.
      const width = curve.isRaw ? 0 : range.last - range.first;
      if (best === null || width < best.width) best = { curve, width };
    }
    return best?.curve ?? null;
  }

  #fetchFiner(wish: CurveWish): void {
    if (wish.zoom === null) return;
    const base = this.#shelf(wish, null);
    const coarse: Curve[] = [];
    for (const run of wish.runs) {
      for (const key of wish.keys) {
        const curve = base.slots.get(nameOf(run, key))?.curve;
        if (curve && !curve.isRaw) coarse.push(curve);
      }
    }
    const asked = rangeOf(wish.xAxis, wish.zoom, coarse);
    if (asked === null || coarse.length === 0) return;
    const rawAlready = (curve: Curve): boolean => {
      for (const shelf of this.#finerShelves(wish, asked)) {
        const slot = shelf.slots.get(nameOf(curve.run, curve.key));
        if (slot?.curve?.isRaw && !slot.isStale) return true;
      }
      return false;
    };
    const runsOf = new Map<string, string[]>();
    for (const curve of coarse) {
      if (!rawAlready(curve)) runsOf.set(curve.key, [...(runsOf.get(curve.key) ?? []), curve.run]);
    }
    if (runsOf.size === 0) return;
    const shelf = this.#shelf(wish, asked);
    for (const [key, runs] of runsOf) this.#fetch(shelf, runs, [key]);
    this.#evict();
  }

  #fetch(shelf: Shelf, runs: readonly string[], keys: readonly string[]): void {
    for (const key of keys) {
      const missing: Slot[] = [];
      for (const run of runs) {
        const name = nameOf(run, key);
        let slot = shelf.slots.get(name);
        if (slot === undefined) {
          slot = new Slot(run, key);
          shelf.slots.set(name, slot);
        }
        if (slot.state === "new" || (slot.state === "here" && slot.isStale)) missing.push(slot);
      }
      if (missing.length > 0) void this.#request(shelf, key, missing);
    }
  }

  async #request(shelf: Shelf, key: string, slots: readonly Slot[]): Promise<void> {
    for (const slot of slots) {
      slot.state = "asked";
      slot.isStale = false;
    }
    try {
      const curves = await readCurves({
        runs: slots.map((slot) => slot.run),
        keys: [key],
        axis: serverAxis(shelf.xAxis),
        xKey: axisKey(shelf.xAxis),
        pixels: shelf.pixels,
        first: shelf.range?.first ?? null,
        last: shelf.range?.last ?? null,
      });
      const found = new Map(curves.map((curve) => [curve.run, curve]));
      for (const slot of slots) {
        const hasMissed = slot.isStale;
        slot.fill(found.get(slot.run) ?? null);
        slot.isStale = hasMissed;
      }
      this.#problems.delete(key);
    } catch (error) {
      for (const slot of slots) slot.state = "failed";
      this.#problems.set(key, error as Error);
    }
    this.#say(key);
    // What is coarse and zoomed can be asked for more finely only now.
    if (shelf.range === null) {
      for (const wish of this.#wishes)
        if (wish.zoom !== null && wish.keys.includes(key)) this.#fetchFiner(wish);
    }
    if (slots.some((slot) => slot.isStale)) this.#repeatSoon();
  }

  /** Tell those who show a key, once a frame at most. */
  #say(key: string): void {
    this.#pending.add(key);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      const keys = this.#pending;
      this.#pending = new Set();
      for (const one of keys) this.beat(one).value += 1;
    });
  }

  /** Let go of what nobody shows, the longest unused first. */
  #evict(): void {
    const shown = new Set<string>();
    for (const wish of this.#wishes) {
      for (const run of wish.runs) for (const key of wish.keys) shown.add(nameOf(run, key));
    }
    const byUse = [...this.#shelves].sort(([, a], [, b]) => a.used - b.used);
    const ranges = byUse.filter(([, shelf]) => shelf.range !== null);
    for (const [name] of ranges.slice(0, Math.max(0, ranges.length - MOST_RANGES)))
      this.#shelves.delete(name);
    let points = 0;
    for (const shelf of this.#shelves.values()) {
      for (const slot of shelf.slots.values()) points += slot.curve?.x.length ?? 0;
    }
    for (const [, shelf] of byUse) {
      if (points <= MOST_POINTS) return;
      for (const [name, slot] of shelf.slots) {
        if (points <= MOST_POINTS || shown.has(name)) continue;
        points -= slot.curve?.x.length ?? 0;
        shelf.slots.delete(name);
      }
    }
  }
}

function nameOf(run: string, key: string): string {
  return `${run}\n${key}`;
}
