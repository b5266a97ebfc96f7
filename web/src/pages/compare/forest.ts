// Permutation importance: how much worse a small forest of trees guesses a metric when one key is shuffled. Pure. Only
// runs that a tree did not see are asked. Works tree by tree, so that a page stays awake meanwhile.

export interface Column {
  readonly name: string;
  /** Numbers; texts as the number of their level. One for each run. */
  readonly values: Float64Array;
}

interface Leaf {
  readonly mean: number;
}
interface Split {
  readonly column: number;
  readonly at: number;
  readonly low: Tree;
  readonly high: Tree;
}
type Tree = Leaf | Split;

const DEEPEST = 8;
const FEWEST = 3;
export const NUM_TREES = 60;

/** Yield after each tree the importances so far, by column: the share of the metric's variance that shuffling costs. */
export function* growForest(
  columns: readonly Column[],
  target: Float64Array,
  seed = 1,
): Generator<Float64Array, Float64Array> {
  const n = target.length;
  const random = randomOf(seed);
  const variance = varianceOf(target);
  const cost = new Float64Array(columns.length);
  let asked = 0;
  const shares = (): Float64Array =>
    cost.map((sum) => (asked === 0 || variance === 0 ? 0 : Math.max(0, sum / asked / variance)));
  for (let tree = 0; tree < NUM_TREES; tree++) {
    const drawn = Array.from({ length: n }, () => Math.floor(random() * n));
    const isDrawn = new Uint8Array(n);
    for (const i of drawn) isDrawn[i] = 1;
    const unseen = Array.from(target.keys()).filter((i) => isDrawn[i] === 0);
    const root = grow(columns, target, drawn, random, 0);
    const own = errorOf(root, columns, target, unseen, null);
    columns.forEach((_, c) => {
      const shuffled = shuffledPlaces(unseen, random);
      cost[c] = (cost[c] as number) + errorOf(root, columns, target, unseen, { column: c, shuffled }) - own;
    });
    asked += unseen.length;
    yield shares();
  }
  return shares();
}

function grow(
  columns: readonly Column[],
  target: Float64Array,
  rows: readonly number[],
  random: () => number,
  depth: number,
): Tree {
  const mean = rows.reduce((sum, i) => sum + (target[i] as number), 0) / Math.max(1, rows.length);
  if (depth >= DEEPEST || rows.length < 2 * FEWEST) return { mean };
  // A third of the columns is tried, as forests for numbers do.
  const tried = chosen(columns.length, Math.max(1, Math.ceil(columns.length / 3)), random);
  let best: { column: number; at: number; gain: number } | null = null;
  for (const column of tried) {
    const found = bestSplit((columns[column] as Column).values, target, rows);
    if (found !== null && (best === null || found.gain > best.gain)) best = { column, ...found };
  }
  if (best === null) return { mean };
  const { column, at } = best;
  const values = (columns[column] as Column).values;
  const low = rows.filter((i) => (values[i] as number) <= at);
  const high = rows.filter((i) => (values[i] as number) > at);
  return {
    column,
    at,
    low: grow(columns, target, low, random, depth + 1),
    high: grow(columns, target, high, random, depth + 1),
  };
}

/** Return the cut that parts the target best, null if there is none. */
function bestSplit(
  values: Float64Array,
  target: Float64Array,
  rows: readonly number[],
): { at: number; gain: number } | null {
  const sorted = [...rows].sort((a, b) => (values[a] as number) - (values[b] as number));
  const total = sorted.reduce((sum, i) => sum + (target[i] as number), 0);
  const n = sorted.length;
  let left = 0;
  let best: { at: number; gain: number } | null = null;
  for (let k = 1; k < n; k++) {
    left += target[sorted[k - 1] as number] as number;
    const [before, after] = [
      values[sorted[k - 1] as number] as number,
      values[sorted[k] as number] as number,
    ];
    if (before === after || k < FEWEST || n - k < FEWEST) continue;
    const gain = (left * left) / k + ((total - left) * (total - left)) / (n - k) - (total * total) / n;
    if (gain > 1e-12 && (best === null || gain > best.gain)) best = { at: (before + after) / 2, gain };
  }
  return best;
}

function errorOf(
  root: Tree,
  columns: readonly Column[],
  target: Float64Array,
  rows: readonly number[],
  change: { column: number; shuffled: readonly number[] } | null,
): number {
  let sum = 0;
  rows.forEach((row, k) => {
    let at = root;
    while ("column" in at) {
      const from = change !== null && change.column === at.column ? (change.shuffled[k] as number) : row;
      at = ((columns[at.column] as Column).values[from] as number) <= at.at ? at.low : at.high;
    }
    sum += ((target[row] as number) - at.mean) ** 2;
  });
  return sum;
}

function shuffledPlaces(rows: readonly number[], random: () => number): number[] {
  const out = [...rows];
  for (let i = out.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [out[i], out[k]] = [out[k] as number, out[i] as number];
  }
  return out;
}

function chosen(n: number, k: number, random: () => number): number[] {
  return shuffledPlaces(
    Array.from({ length: n }, (_, i) => i),
    random,
  ).slice(0, k);
}

function varianceOf(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
}

/** The same numbers every time (mulberry32): a page that is loaded again shows the same. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
