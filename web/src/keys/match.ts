// How well a text fits what was typed: whole words before beginnings of words before letters in order. Pure.

/** A fit of at least this is one that a person sees: the text as typed, or all its words. */
const CLOSE = 400;

/** Return a score, the higher the better; null if it does not fit. */
export function score(text: string, typed: string): number | null {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return 0;
  const lower = text.toLowerCase();
  const at = lower.indexOf(wanted);
  if (at === 0) return 1000 - text.length;
  if (at > 0) return (/[\s/._-]/.test(lower[at - 1] as string) ? 800 : 600) - at;
  const words = wanted.split(/\s+/);
  if (words.length > 1 && words.every((word) => lower.includes(word))) return CLOSE;
  let from = 0;
  let gaps = 0;
  for (const letter of wanted.replaceAll(" ", "")) {
    const found = lower.indexOf(letter, from);
    if (found < 0) return null;
    gaps += found - from;
    from = found + 1;
  }
  return 200 - gaps;
}

/** Return the items with those that fit closely first, else in their order: letters here and there come last. */
export function closeFirst<T>(items: readonly T[], typed: string, textOf: (item: T) => string): T[] {
  const isClose = (item: T): boolean => (score(textOf(item), typed) ?? 0) >= CLOSE;
  return typed.trim() ? [...items.filter(isClose), ...items.filter((item) => !isClose(item))] : [...items];
}

/** Return the items that fit, the best first; in their own order where nothing was typed. */
export function ranked<T>(items: readonly T[], typed: string, textOf: (item: T) => string): T[] {
  if (!typed.trim()) return [...items];
  return items
    .map((item) => ({ item, points: score(textOf(item), typed) }))
    .filter((one): one is { item: T; points: number } => one.points !== null)
    .sort((left, right) => right.points - left.points)
    .map((one) => one.item);
}
