// Results that are no metrics: what a program put into the summary itself. Pure.

/** Return the part of a summary that no chart, table or picture shows. */
export function otherResults(
  summary: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Record<string, unknown> {
  const logged = new Set(keys);
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(summary)) {
    if (logged.has(key) || key.startsWith("_")) continue;
    const isMedia = typeof value === "object" && value !== null && "_type" in value;
    if (!isMedia) found[key] = value;
  }
  return found;
}
