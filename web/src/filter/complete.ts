// What may come next in a filter that is being written: fields, operators that suit the field, its values, and/or.

import { NAME_FIELD, OWN_FIELDS } from "./condition";
import { valueText } from "./print";
import { fieldText, type Token, tokensOf } from "./token";

export interface KnownField {
  readonly name: string;
  /** number, bool, text, list, ...: as the server's list of fields says. */
  readonly kinds?: readonly string[];
  /** Texts that runs have there. */
  readonly texts?: readonly string[];
  readonly detail?: string;
}

export interface Suggestion {
  /** What takes the place of the characters from `from` to `to`. */
  readonly text: string;
  readonly kind: "field" | "operator" | "value" | "keyword";
  readonly detail: string;
}

export interface Completion {
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly Suggestion[];
  /** How many there are beyond those listed. */
  readonly left: number;
  /** The field whose values are wanted, so that the page can ask the server for them. */
  readonly field: string | null;
}

type Expected = "term" | "operator" | "value" | "listOpen" | "listValue" | "listNext" | "joint";

const STATES = ["running", "finished", "failed", "crashed", "killed", "preempted"];

/** Return suggestions for the place of the cursor, the best first. */
export function complete(
  text: string,
  cursor: number,
  fields: readonly KnownField[],
  limit = 50,
): Completion {
  const tokens = tokensOf(text);
  const partial = tokens.find((token) => isPartial(token, cursor));
  const before = tokens.filter((token) => token.end <= cursor && token !== partial);
  const { expected, field } = expectedAfter(before);
  const typed = partial === undefined ? "" : typedPart(text, partial, cursor);
  const all = suggestionsFor(expected, field, fields);
  const matching = ranked(all, typed);
  return {
    from: partial?.at ?? cursor,
    to: partial?.end ?? cursor,
    suggestions: matching.slice(0, limit),
    left: Math.max(0, matching.length - limit),
    field: expected === "value" || expected === "listValue" ? field : null,
  };
}

/** A word or quote that the cursor is in or at the end of; a closed quote is done. */
function isPartial(token: Token, cursor: number): boolean {
  if (token.kind === "sign" || cursor <= token.at || cursor > token.end) return false;
  return token.kind === "word" || cursor < token.end || !token.isClosed;
}

function typedPart(text: string, token: Token, cursor: number): string {
  return text.slice(token.kind === "word" ? token.at : token.at + 1, cursor);
}

function expectedAfter(tokens: readonly Token[]): { expected: Expected; field: string | null } {
  let expected: Expected = "term";
  let field: string | null = null;
  for (const token of tokens) {
    const sign = token.kind === "sign" ? token.text : "";
    const word = token.kind === "word" ? token.text.toLowerCase() : "";
    if (expected === "value" && sign === "[") expected = "listValue";
    else if (expected === "value") expected = "joint";
    else if (expected === "listOpen") expected = sign === "[" ? "listValue" : "listOpen";
    else if (expected === "listValue") expected = sign === "]" ? "joint" : "listNext";
    else if (expected === "listNext")
      expected = sign === "," ? "listValue" : sign === "]" ? "joint" : "listNext";
    else if (sign === ")") expected = "joint";
    else if (sign === "(" || sign === "!" || ["and", "or", "&&", "||"].includes(word)) expected = "term";
    else if (word === "not") expected = expected === "operator" ? "operator" : "term";
    else if (expected === "operator" && word === "in") expected = "listOpen";
    else if (expected === "operator" && word === "exists") expected = "joint";
    else if (expected === "operator" && (sign !== "" || word === "has")) expected = "value";
    else if (token.kind === "text") expected = "joint";
    else {
      expected = "operator";
      field = token.text;
    }
  }
  return { expected, field };
}

function suggestionsFor(
  expected: Expected,
  field: string | null,
  fields: readonly KnownField[],
): Suggestion[] {
  switch (expected) {
    case "term":
      return [...fieldSuggestions(fields), keyword("not", "turn a condition round"), keyword("(", "")];
    case "operator":
      return [...operatorsOf(field, fields), ...JOINTS];
    case "value":
    case "listValue":
      return valuesOf(field, fields);
    case "listOpen":
      return [keyword("[", "a list of values")];
    case "listNext":
      return [keyword(",", "another value"), keyword("]", "end of the list")];
    case "joint":
      return JOINTS;
  }
}

const JOINTS: Suggestion[] = [keyword("and", "both"), keyword("or", "one of them")];

function keyword(text: string, detail: string): Suggestion {
  return { text, kind: "keyword", detail };
}

function fieldSuggestions(fields: readonly KnownField[]): Suggestion[] {
  const known = new Set(fields.map((field) => field.name));
  // The other spellings of the same fields would only be noise here.
  const own = OWN_FIELDS.filter((name) => !/[A-Z]|^(display_name|username)$/.test(name) && !known.has(name));
  return [...own.map((name) => ({ name, kinds: [], detail: "" })), ...fields].map((field: KnownField) => ({
    text: fieldText(field.name),
    kind: "field",
    detail: field.detail ?? field.kinds?.join(", ") ?? "",
  }));
}

const HELP: readonly (readonly [operator: string, kinds: string, detail: string])[] = [
  ["=", "any", "equal"],
  ["!=", "any", "not equal, or absent"],
  ["<", "number text", "less"],
  ["<=", "number text", "less or equal"],
  [">", "number text", "greater"],
  [">=", "number text", "greater or equal"],
  ["~", "text list", "matches a pattern"],
  ["!~", "text list", "does not match a pattern"],
  ["has", "list", "has this element"],
  ["not has", "list", "lacks this element"],
  ["in", "any", "one of a list"],
  ["not in", "any", "none of a list"],
  ["exists", "any", "has a value"],
  ["not exists", "any", "has no value"],
];

function operatorsOf(field: string | null, fields: readonly KnownField[]): Suggestion[] {
  const kinds = kindsOf(field, fields);
  const suits = (wanted: string): boolean =>
    wanted === "any" || kinds.length === 0 || wanted.split(" ").some((kind) => kinds.includes(kind));
  return HELP.filter(([, wanted]) => suits(wanted)).map(([text, , detail]) => ({
    text,
    kind: "operator",
    detail,
  }));
}

function kindsOf(field: string | null, fields: readonly KnownField[]): readonly string[] {
  if (field === "tags") return ["list"];
  if (field === "state" || field === NAME_FIELD || field === "group" || field === "host") return ["text"];
  if (field === "runtime" || field === "num_rows" || field?.endsWith("_ns")) return ["number"];
  return fields.find((known) => known.name === field)?.kinds ?? [];
}

function valuesOf(field: string | null, fields: readonly KnownField[]): Suggestion[] {
  const known = fields.find((item) => item.name === field);
  const texts = known?.texts ?? (field === "state" ? STATES : []);
  const values: Suggestion[] = texts.map((text) => ({ text: valueText(text), kind: "value", detail: "" }));
  if (known?.kinds?.includes("bool")) {
    for (const text of ["true", "false"]) values.push({ text, kind: "value", detail: "" });
  }
  return values;
}

/** Those that begin with what was typed, then those with a part that does, then those that hold it. */
function ranked(all: readonly Suggestion[], typed: string): Suggestion[] {
  const wanted = typed.toLowerCase();
  if (wanted === "") return all.slice();
  const ranks: Suggestion[][] = [[], [], []];
  for (const suggestion of all) {
    const text = suggestion.text.toLowerCase().replace(/^["`]/, "");
    if (text.startsWith(wanted)) ranks[0]?.push(suggestion);
    else if (text.includes(`.${wanted}`) || text.includes(`/${wanted}`) || text.includes(`_${wanted}`)) {
      ranks[1]?.push(suggestion);
    } else if (text.includes(wanted)) ranks[2]?.push(suggestion);
  }
  return ranks.flat();
}
