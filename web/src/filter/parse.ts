// Text to condition: `state = finished and (config.lr < 0.1 or tags has good) and not name ~ "^debug"`.
// `and` binds more tightly than `or`; terms beside each other mean `and`; a bare word is looked for in the name.

import {
  type Condition,
  isField,
  NAME_FIELD,
  type Operator,
  OWN_FIELDS,
  type Value,
  wordPattern,
} from "./condition";
import { numberOf, type Token, tokensOf } from "./token";

export interface FilterProblem {
  readonly message: string;
  /** What to write instead, or "". */
  readonly hint: string;
  /** The characters that are meant. */
  readonly at: number;
  readonly end: number;
}

export type Parsed =
  | { readonly ok: true; readonly condition: Condition | null }
  | { readonly ok: false; readonly problem: FilterProblem };

/** Return the condition that a text means, null for an empty one, or what is wrong and where. */
export function parseFilter(text: string, knownFields: readonly string[] = []): Parsed {
  try {
    return { ok: true, condition: new Parser(text, knownFields).whole() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problem: error.problem };
    throw error;
  }
}

class Refusal extends Error {
  constructor(readonly problem: FilterProblem) {
    super(problem.message);
  }
}

const SIGNS: Readonly<Record<string, Operator>> = {
  "=": "=",
  "==": "=",
  "!=": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
  "~": "~",
  "=~": "~",
  "!~": "!~",
};
/** As many levels as the server reads. */
const DEEPEST = 20;

class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly knownFields: readonly string[],
  ) {
    this.tokens = tokensOf(text);
    const open = this.tokens.find((token) => !token.isClosed);
    if (open)
      throw refusal(open, `the quote ${text[open.at]} is not closed`, `add ${text[open.at]} at its end`);
  }

  whole(): Condition | null {
    if (this.tokens.length === 0) return null;
    const condition = this.either();
    const rest = this.peek();
    if (rest !== undefined) throw refusal(rest, `"${this.spelled(rest)}" has no beginning`, "remove it");
    return condition;
  }

  private either(): Condition {
    if (++this.depth > DEEPEST) throw this.here(`more than ${DEEPEST} levels`, "write it flatter");
    const parts = [this.both()];
    while (this.takeWord("or", "||")) parts.push(this.both());
    this.depth--;
    return parts.length === 1 ? (parts[0] as Condition) : { kind: "or", parts: flattened("or", parts) };
  }

  private both(): Condition {
    const parts = [this.term()];
    for (;;) {
      const next = this.peek();
      const isJoined = this.takeWord("and", "&&");
      if (!isJoined && (next === undefined || isSign(next, ")") || isWord(next, "or", "||"))) break;
      if (!isJoined && next?.kind === "sign" && next.text !== "(" && next.text !== "!") break;
      parts.push(this.term());
    }
    return parts.length === 1 ? (parts[0] as Condition) : { kind: "and", parts: flattened("and", parts) };
  }

  private term(): Condition {
    const token = this.peek();
    if (token === undefined) throw this.here("a condition is missing at the end", "such as state = finished");
    this.at++;
    if (isSign(token, "(")) return this.inParentheses(token);
    if (isWord(token, "not") || isSign(token, "!")) {
      if (++this.depth > DEEPEST) throw refusal(token, `more than ${DEEPEST} levels`, "write it flatter");
      const of = this.term();
      this.depth--;
      return { kind: "not", of };
    }
    if (token.kind === "sign" || isWord(token, "and", "or", "&&", "||")) {
      throw refusal(token, `"${token.text}" where a condition should begin`, "such as state = finished");
    }
    return this.rest(token);
  }

  private inParentheses(open: Token): Condition {
    const inner = this.either();
    const close = this.peek();
    if (close === undefined || !isSign(close, ")")) throw refusal(open, '"(" is not closed', "add )");
    this.at++;
    return inner;
  }

  /** What follows a name: an operator and its value, or nothing if it is a bare word. */
  private rest(name: Token): Condition {
    const next = this.peek();
    const sign = next?.kind === "sign" ? SIGNS[next.text] : undefined;
    if (sign !== undefined) {
      this.at++;
      const field = this.field(name);
      return this.comparison(field, sign, sign === "~" || sign === "!~" ? this.pattern() : this.value());
    }
    if (name.kind === "text") return named(name.text);
    const isNot = isWord(next, "not") && isWord(this.tokens[this.at + 1], "in", "has", "exists");
    const word = isNot ? this.tokens[this.at + 1] : next;
    if (!isWord(word, "in", "has", "exists")) {
      if (name.kind === "field") throw refusal(name, "a field without a condition", `${name.text} exists`);
      return named(name.text);
    }
    this.at += isNot ? 2 : 1;
    const field = this.field(name);
    switch (word?.text.toLowerCase()) {
      case "in":
        return { kind: "compare", field, operator: isNot ? "not in" : "in", value: this.list() };
      case "has":
        return this.comparison(field, isNot ? "!=" : "=", this.value());
      default: {
        const exists: Condition = { kind: "exists", field };
        return isNot ? { kind: "not", of: exists } : exists;
      }
    }
  }

  private comparison(field: string, operator: Operator, value: Value): Condition {
    return { kind: "compare", field, operator, value };
  }

  private field(token: Token): string {
    if (token.kind === "text")
      throw refusal(token, "a text cannot be compared", "put a field first: name = …");
    if (isField(token.text)) return token.text;
    throw refusal(token, `runs have no field ${token.text}`, this.fieldHint(token.text));
  }

  private fieldHint(name: string): string {
    const wanted = name.toLowerCase();
    const all = [...OWN_FIELDS, ...this.knownFields];
    const near = all.find(
      (field) => field.toLowerCase() === wanted || field.toLowerCase().endsWith(`.${wanted}`),
    );
    if (near !== undefined) return `did you mean ${near}`;
    return `values of a run are config.${name}, summary.${name} or metadata.${name}`;
  }

  private pattern(): string {
    const token = this.peek();
    const value = this.value();
    if (typeof value === "string") return value;
    // A number is a pattern of digits as well: name ~ 50.
    if (token !== undefined && !Array.isArray(value)) return token.text;
    throw this.here("~ takes a pattern", 'in quotes: name ~ "resnet.*"');
  }

  private value(): Value {
    const token = this.peek();
    if (token === undefined)
      throw this.here("a value is missing at the end", "a number, a word or a text in quotes");
    if (isSign(token, "[")) return this.list();
    this.at++;
    if (token.kind === "text") return token.text;
    if (token.kind !== "word") {
      throw refusal(
        token,
        `"${token.text}" where a value should come`,
        "a number, a word or a text in quotes",
      );
    }
    return wordValue(token.text);
  }

  private list(): Value[] {
    const open = this.peek();
    if (open === undefined || !isSign(open, "[")) throw this.here("a list should come", "such as [a, b]");
    if (++this.depth > DEEPEST) throw refusal(open, `more than ${DEEPEST} levels`, "write it flatter");
    this.at++;
    const values: Value[] = [];
    while (!isSign(this.peek(), "]")) {
      values.push(this.value());
      if (isSign(this.peek(), ",")) this.at++;
      else if (!isSign(this.peek(), "]")) throw refusal(open, "the list is not closed", "add ]");
    }
    this.at++;
    this.depth--;
    return values;
  }

  private peek(): Token | undefined {
    return this.tokens[this.at];
  }

  private takeWord(...words: string[]): boolean {
    if (!isWord(this.peek(), ...words)) return false;
    this.at++;
    return true;
  }

  private spelled(token: Token): string {
    return this.text.slice(token.at, token.end);
  }

  private here(message: string, hint: string): Refusal {
    const token = this.peek() ?? { at: this.text.length, end: this.text.length };
    return refusal(token, message, hint);
  }
}

function refusal({ at, end }: Pick<Token, "at" | "end">, message: string, hint: string): Refusal {
  return new Refusal({ message, hint, at, end });
}

function isSign(token: Token | undefined, sign: string): boolean {
  return token?.kind === "sign" && token.text === sign;
}

function isWord(token: Token | undefined, ...words: string[]): boolean {
  return token?.kind === "word" && words.includes(token.text.toLowerCase());
}

function named(word: string): Condition {
  return { kind: "compare", field: NAME_FIELD, operator: "~", value: wordPattern(word) };
}

function wordValue(word: string): Value {
  const lower = word.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  if (lower === "null" || lower === "none") return null;
  return numberOf(word) ?? word;
}

/** `a and (b and c)` is `a and b and c`. */
function flattened(kind: "and" | "or", parts: readonly Condition[]): Condition[] {
  return parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
}
