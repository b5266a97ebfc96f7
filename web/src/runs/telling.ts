// Which of many metrics says most about a run. Pure.

/** Return the key that says most about how a run goes: a loss, else the first. */
export function tellingKey(names: readonly string[]): string | null {
  const ranks = [
    /^(train|training)[/._](.*[/._])?loss$/i,
    /(^|[/._])loss$/i,
    /loss/i,
    /(acc|accuracy|reward|score|perplexity)/i,
  ];
  for (const rank of ranks) {
    const found = names.find((name) => rank.test(name));
    if (found !== undefined) return found;
  }
  return names[0] ?? null;
}
