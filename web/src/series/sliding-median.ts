// The median of a window that slides along ascending x, O(n log n) whatever the width.
// The one idea: values become ranks once, and a tree of counts over the ranks (Fenwick) takes points in and out and finds
// the k-th in O(log n).

/** The median of the finite values within `half` of each point; of an even number, the mean of the middle two. */
export function slidingMedian(x: Float64Array, y: Float64Array, half: number): Float64Array {
  const n = y.length;
  const sorted = y.slice().sort();
  const ranks = ranksOf(y, sorted);
  const tree = new Int32Array(n + 1);
  const top = n > 0 ? 2 ** Math.floor(Math.log2(n)) : 0;
  const add = (rank: number, change: number): void => {
    for (let k = rank; k <= n; k += k & -k) tree[k] = (tree[k] as number) + change;
  };
  /** The value that `before` of those in the window come before. */
  const find = (before: number): number => {
    let at = 0;
    let left = before;
    for (let jump = top; jump > 0; jump >>= 1) {
      const next = at + jump;
      if (next <= n && (tree[next] as number) <= left) {
        at = next;
        left -= tree[next] as number;
      }
    }
    return sorted[at] as number;
  };
  const out = new Float64Array(n);
  let first = 0;
  let end = 0;
  let count = 0;
  for (let i = 0; i < n; i++) {
    const here = x[i] as number;
    for (; end < n && (x[end] as number) <= here + half; end++) {
      const rank = ranks[end] as number;
      if (rank === 0) continue;
      add(rank, 1);
      count++;
    }
    for (; first < end && (x[first] as number) < here - half; first++) {
      const rank = ranks[first] as number;
      if (rank === 0) continue;
      add(rank, -1);
      count--;
    }
    if (ranks[i] === 0) out[i] = Number.NaN;
    else if (count % 2 === 1) out[i] = find((count - 1) / 2);
    else out[i] = find(count / 2 - 1) / 2 + find(count / 2) / 2;
  }
  return out;
}

/** Return for each value one more than how many are less, 0 for what is not finite. */
function ranksOf(y: Float64Array, sorted: Float64Array): Int32Array {
  const ranks = new Int32Array(y.length);
  for (let i = 0; i < y.length; i++) {
    const value = y[i] as number;
    if (value - value !== 0) continue;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    ranks[i] = low + 1;
  }
  return ranks;
}
