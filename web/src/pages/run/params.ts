// What a tab remembers in the address: one parameter each, so that a link shows the same thing and back works.

import { useCallback } from "preact/hooks";
import { go, place, search } from "../../app/navigation";

/** Return search text with some parameters changed; those of others stay, "" and null take one away. */
export function withParams(text: string, changes: Readonly<Record<string, string | null>>): string {
  const params = new URLSearchParams(text);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
  }
  const next = params.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
  return next ? `?${next}` : "";
}

export function setParams(changes: Readonly<Record<string, string | null>>, replace = true): void {
  go(place.peek().path, { replace, search: withParams(search.peek(), changes) });
}

/** A parameter of the address, and how to change it; the fallback is not written. */
export function useParam(
  name: string,
  fallback = "",
): [string, (value: string, options?: { push?: boolean }) => void] {
  const value = new URLSearchParams(search.value).get(name) ?? fallback;
  const set = useCallback(
    (next: string, options?: { push?: boolean }) =>
      setParams({ [name]: next === fallback ? null : next }, !options?.push),
    [name, fallback],
  );
  return [value, set];
}
