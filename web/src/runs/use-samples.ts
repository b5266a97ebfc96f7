// Curves over time, of the system or of what was logged, asked for again whenever `beat` changes.

import { useEffect, useState } from "preact/hooks";
import type { Curve } from "../series/curve";
import { readCurves } from "../server/series";
import type { Zoom } from "../view/state";

export interface SamplesAsk {
  /** Paths. */
  readonly runs: readonly string[];
  readonly keys: readonly string[];
  readonly isSystem: boolean;
  readonly axis: "wall" | "relative";
  /** Seconds on that axis. */
  readonly zoom: Zoom | null;
  readonly beat: number;
}

export interface Samples {
  /** Null until they are here. */
  readonly curves: readonly Curve[] | null;
  readonly problem: Error | null;
}

const PIXELS = 800;
const NS = 1e9;
const NONE: Samples = { curves: [], problem: null };
const WAITING: Samples = { curves: null, problem: null };

export function useSamples({ runs, keys, isSystem, axis, zoom, beat }: SamplesAsk): Samples {
  const [samples, setSamples] = useState<Samples>(WAITING);
  const what = JSON.stringify([runs, keys]);
  const isNone = runs.length === 0 || keys.length === 0;
  useEffect(() => {
    void beat; // the runs went on
    if (isNone) return;
    const abort = new AbortController();
    const [askedRuns, askedKeys] = JSON.parse(what) as [string[], string[]];
    const wide = zoom === null ? 0 : (zoom.last - zoom.first) / 4;
    const range =
      zoom === null
        ? {}
        : { first: Math.floor((zoom.first - wide) * NS), last: Math.ceil((zoom.last + wide) * NS) };
    const ask = {
      runs: askedRuns,
      keys: askedKeys,
      axis: axis === "wall" ? ("time" as const) : ("relative" as const),
      pixels: PIXELS,
      system: isSystem,
      ...range,
    };
    readCurves(ask, abort.signal).then(
      (curves) => !abort.signal.aborted && setSamples({ curves, problem: null }),
      (problem: Error) => !abort.signal.aborted && setSamples(({ curves }) => ({ curves, problem })),
    );
    return () => abort.abort();
  }, [what, isNone, axis, isSystem, zoom?.first, zoom?.last, beat]);
  return isNone ? NONE : samples;
}
