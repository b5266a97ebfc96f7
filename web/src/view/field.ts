// One value of the view as text: short, readable in an address bar, and read back with suspicion.
// `read` returns undefined for text that it does not understand; it never throws.

export interface TextOf<T> {
  readonly write: (value: T) => string;
  readonly read: (text: string) => T | undefined;
}

/** Text with what URLs cannot carry (half of a surrogate pair) replaced. */
export const anyText: TextOf<string> = {
  write: (value) => value.replace(/\p{Surrogate}/gu, "\ufffd"),
  read: (text) => text,
};

/** Text, or null as the empty text. */
export const optionalText: TextOf<string | null> = {
  write: (value) => (value === null ? "" : anyText.write(value)),
  read: (text) => (text === "" ? null : text),
};

export function oneOf<T extends string>(options: readonly T[]): TextOf<T> {
  return { write: (value) => value, read: (text) => options.find((option) => option === text) };
}

export function numberWithin(low: number, high: number): TextOf<number> {
  return {
    write: (value) => String(value),
    read: (text) => {
      const value = readNumber(text);
      return value !== undefined && value >= low && value <= high ? value : undefined;
    },
  };
}

export function readNumber(text: string): number | undefined {
  return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

export const flag: TextOf<boolean> = {
  write: (value) => (value ? "1" : "0"),
  read: (text) => (text === "1" ? true : text === "0" ? false : undefined),
};

// Lists are parted by commas; a comma or backslash of an item has a backslash before it, and an empty item is "\0".

export function writeList(items: readonly string[]): string {
  return items.map((item) => (item === "" ? "\\0" : anyText.write(item).replace(/[\\,]/g, "\\$&"))).join(",");
}

export function readList(text: string): string[] {
  if (text === "") return [];
  const items: string[] = [];
  let item = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === ",") {
      items.push(item);
      item = "";
    } else if (character === "\\" && at + 1 < text.length) {
      const next = text[++at] as string;
      if (next !== "0") item += next;
    } else item += character;
  }
  items.push(item);
  return items;
}

export const list: TextOf<readonly string[]> = { write: writeList, read: readList };
