// How config keys go together with a metric over many runs: Spearman's rank correlation, and what a key explains alone.
// Pure. Neither says what causes what; what a key adds to the others is in forest.ts.

export type Feature = number | string | null;

export interface Association {
  readonly name: string;
  /** Runs that have both. */
  readonly n: number;
  /** Spearman's rho; null for texts, which have no order. */
  readonly rho: number | null;
  /** Share of the metric's rank variance that the key explains alone, 0 to 1, less what chance would explain. */
  readonly explained: number;
  /** Whether it is more than chance would give in 19 of 20 cases. */
  readonly isClear: boolean;
  /** Whether its values are texts. */
  readonly isText: boolean;
}

const MOST_LEVELS = 8;

/** Return ranks from 1, equal values at their mean. */
export function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => (values[a] as number) - (values[b] as number));
  const out = new Array<number>(values.length);
  for (let i = 0; i < order.length; ) {
    let end = i + 1;
    while (end < order.length && values[order[end] as number] === values[order[i] as number]) end += 1;
    const mean = (i + 1 + end) / 2;
    for (let k = i; k < end; k++) out[order[k] as number] = mean;
    i = end;
  }
  return out;
}

/** Return Pearson's r; 0 if one of them does not vary. */
export function pearson(x: readonly number[], y: readonly number[]): number {
  const n = x.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const [dx, dy] = [(x[i] as number) - mx, (y[i] as number) - my];
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  return xx === 0 || yy === 0 ? 0 : Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
}

export function spearman(x: readonly number[], y: readonly number[]): number {
  return pearson(ranks(x), ranks(y));
}

/** Return how a key goes with the metric; null if fewer than three runs have both, or the key does not vary. */
export function associate(
  name: string,
  features: readonly Feature[],
  metric: readonly number[],
): Association | null {
  const rows = features.map((feature, i) => ({ feature, value: metric[i] as number }));
  const known = rows.filter(
    ({ feature, value }) =>
      feature !== null && Number.isFinite(value) && (typeof feature === "string" || Number.isFinite(feature)),
  );
  const n = known.length;
  const levels = new Set(known.map(({ feature }) => feature));
  if (n < 3 || levels.size < 2) return null;
  const isText = known.some(({ feature }) => typeof feature === "string");
  // A text that is different in every run (a name, a path) explains everything and says nothing.
  if (isText && levels.size > n / 2) return null;
  const y = ranks(known.map(({ value }) => value));
  const x = isText ? null : known.map(({ feature }) => feature as number);
  const rho = x === null ? null : pearson(ranks(x), y);
  const groups = x === null || levels.size <= MOST_LEVELS ? byLevel(known, y) : byQuantile(x, y);
  const { share, isClear } = explainedBy(groups, y);
  const isRhoClear = rho !== null && Math.abs(rho) > 1.96 / Math.sqrt(n - 1);
  return { name, n, rho, explained: share, isClear: isClear || isRhoClear, isText };
}

/** How much a key deserves to be looked at: what is more than chance first. */
export function strength({ explained, rho, isClear }: Association): number {
  return Math.max(explained, (rho ?? 0) ** 2) + (isClear ? 1 : 0);
}

function byLevel(known: readonly { feature: Feature }[], y: readonly number[]): number[][] {
  const groups = new Map<Feature, number[]>();
  known.forEach(({ feature }, i) => {
    const group = groups.get(feature) ?? [];
    group.push(y[i] as number);
    groups.set(feature, group);
  });
  return [...groups.values()];
}

/** Groups of neighbours, about the root of n and at most eight; equal values stay together. */
function byQuantile(x: readonly number[], y: readonly number[]): number[][] {
  const num = Math.max(2, Math.min(MOST_LEVELS, Math.floor(Math.sqrt(x.length))));
  const groups: number[][] = Array.from({ length: num }, () => []);
  ranks(x).forEach((rank, i) => {
    const at = Math.min(num - 1, Math.floor(((rank - 0.5) / x.length) * num));
    groups[at]?.push(y[i] as number);
  });
  return groups.filter((group) => group.length > 0);
}

/** The share of variance between groups, less what groups of that number explain by chance (epsilon squared). */
function explainedBy(
  groups: readonly (readonly number[])[],
  y: readonly number[],
): { share: number; isClear: boolean } {
  const [n, k, all] = [y.length, groups.length, mean(y)];
  const total = y.reduce((sum, value) => sum + (value - all) ** 2, 0);
  const between = groups.reduce((sum, group) => sum + group.length * (mean(group) - all) ** 2, 0);
  if (total === 0 || n <= k) return { share: 0, isClear: false };
  const within = (total - between) / (n - k);
  const share = Math.max(0, Math.min(1, (between - (k - 1) * within) / total));
  // Kruskal and Wallis: under chance H is chi-squared with k - 1 degrees (Wilson and Hilferty's root).
  const h = ((n - 1) * between) / total;
  const degrees = k - 1;
  const z = (Math.cbrt(h / degrees) - (1 - 2 / (9 * degrees))) / Math.sqrt(2 / (9 * degrees));
  return { share, isClear: z > 1.645 };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
