// The view as the search text of an address, and back: `v=1&filter=…&x=relative&smooth=ema:0.9`. Only what differs from the
// default is written. What is not understood is left at its default and told, parameters of others are kept. Nothing throws.

import { FIELDS, OPTION_FIELDS, type Place, REPEATED } from "./fields";
import { DEFAULT_VIEW, type ViewState } from "./state";

export const VERSION = 1;

export type Parameter = readonly [name: string, value: string];

export interface Ignored {
  readonly name: string;
  readonly value: string;
  readonly reason: string;
}

export interface DecodedView {
  readonly view: ViewState;
  /** Parameters that are not of the view, in order: give them back to `encodeView`. */
  readonly unknown: readonly Parameter[];
  readonly ignored: readonly Ignored[];
}

/** Return the search text of a view, without "?"; "" if it is the default and nothing else is there. */
export function encodeView(view: ViewState, unknown: readonly Parameter[] = []): string {
  const own: Parameter[] = [];
  for (const [name, field] of [...Object.entries(FIELDS), ...Object.entries(OPTION_FIELDS)]) {
    const text = field.text.write(valueAt(view, field.place) as never);
    if (text !== field.text.write(valueAt(DEFAULT_VIEW, field.place) as never)) own.push([name, text]);
  }
  for (const [name, field] of Object.entries(REPEATED)) {
    for (const text of field.write(view.charts)) own.push([name, text]);
  }
  if (own.length > 0) own.unshift(["v", String(VERSION)]);
  return [...own, ...unknown].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&");
}

/** Return the view that a search text (with or without "?") describes. */
export function decodeView(search: string): DecodedView {
  const unknown: Parameter[] = [];
  const ignored: Ignored[] = [];
  const repeated = new Map<string, string[]>();
  let view = DEFAULT_VIEW;
  for (const [name, value] of new URLSearchParams(search)) {
    const field = own(FIELDS, name) ?? own(OPTION_FIELDS, name);
    if (field !== undefined) {
      const read = field.text.read(value);
      if (read === undefined) ignored.push({ name, value, reason: `not a value for ${name}` });
      else view = withValue(view, field.place, read);
    } else if (own(REPEATED, name) !== undefined) {
      repeated.set(name, [...(repeated.get(name) ?? []), value]);
    } else if (name === "v") {
      const reason = "made by another version: what is not known here is left out";
      if (value !== String(VERSION)) ignored.push({ name, value, reason });
    } else unknown.push([name, value]);
  }
  for (const [name, texts] of repeated) {
    const field = own(REPEATED, name) as (typeof REPEATED)[string];
    const { patch, refused } = field.read(texts);
    for (const { value, reason } of refused) ignored.push({ name, value, reason });
    view = { ...view, charts: { ...view.charts, ...patch } };
  }
  return { view, unknown, ignored };
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function valueAt(view: ViewState, [part, key]: Place): unknown {
  return key === null ? view[part] : (view[part] as unknown as Record<string, unknown>)[key];
}

function withValue(view: ViewState, [part, key]: Place, value: unknown): ViewState {
  if (key === null) return { ...view, [part]: value };
  return { ...view, [part]: { ...(view[part] as object), [key]: value } };
}

/** Escape for a query, but leave what may stand there as it is: addresses are read by people. */
function escaped(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/%(2F|2C|3A|3B|40|24|3F|5B|5D|5C)/g, (code) => decodeURIComponent(code))
    .replace(/%20/g, "+");
}
