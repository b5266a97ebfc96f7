// Filters and order of a table as texts for the address. Pure.

import type { Filters, Sort } from "./shape";

/** "score:> 0.5;label:cat", with a backslash before ";", ":" and "\\" of their own. */
export function filtersOf(text: string): Filters {
  const filters: Record<string, string> = {};
  let name: string | null = null;
  let part = "";
  const end = (): void => {
    if (name !== null && name !== "" && part !== "") filters[name] = part;
    name = null;
    part = "";
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (character === "\\" && i + 1 < text.length) part += text[++i];
    else if (character === ":" && name === null) {
      name = part;
      part = "";
    } else if (character === ";") end();
    else part += character;
  }
  end();
  return filters;
}

export function textOfFilters(filters: Filters): string {
  const escaped = (text: string): string => text.replace(/[\\;:]/g, "\\$&");
  return Object.entries(filters)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${escaped(name)}:${escaped(text)}`)
    .join(";");
}

/** "-score" is the greatest first. */
export function sortOf(text: string): Sort | null {
  if (text === "") return null;
  return text.startsWith("-") ? { column: text.slice(1), isDown: true } : { column: text, isDown: false };
}
