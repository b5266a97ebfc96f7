// Histograms of many steps on one grid: each has its own edges, so counts are shared out over common rows. Pure.

import type { Bins } from "./records";

export interface Heat {
  readonly low: number;
  readonly high: number;
  readonly rows: number;
  readonly columns: readonly {
    readonly step: number;
    /** By row from below: the share of the fullest row of this step. */
    readonly shares: Float64Array;
  }[];
}

const ROWS = 32;
/** More steps than this are thinned out evenly; the last is always there. */
const MOST = 120;

export function heatOf(all: readonly { readonly step: number; readonly bins: Bins }[]): Heat | null {
  const some = thinned(all.filter(({ bins }) => bins.edges.length > 1));
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { bins } of some) {
    low = Math.min(low, bins.edges[0] as number);
    high = Math.max(high, bins.edges.at(-1) as number);
  }
  if (!(low < high)) return null;
  const tall = (high - low) / ROWS;
  const columns = some.map(({ step, bins }) => {
    const rows = new Float64Array(ROWS);
    bins.values.forEach((value, index) => {
      const from = bins.edges[index] as number;
      const to = bins.edges[index + 1] as number;
      if (!(to > from)) return;
      const first = Math.max(0, Math.floor((from - low) / tall));
      const last = Math.min(ROWS - 1, Math.floor((to - low) / tall));
      for (let row = first; row <= last; row++) {
        const overlap = Math.min(to, low + (row + 1) * tall) - Math.max(from, low + row * tall);
        if (overlap > 0) rows[row] = (rows[row] as number) + (value * overlap) / (to - from);
      }
    });
    const most = rows.reduce((max, value) => Math.max(max, value), 0);
    return { step, shares: most > 0 ? rows.map((value) => value / most) : rows };
  });
  return { low, high, rows: ROWS, columns };
}

function thinned<T>(all: readonly T[]): T[] {
  if (all.length <= MOST) return [...all];
  const some: T[] = [];
  for (let i = 0; i < MOST; i++) some.push(all[Math.round((i * (all.length - 1)) / (MOST - 1))] as T);
  return some;
}
