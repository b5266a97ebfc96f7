// A filter as a tree, between the text that people write (parse.ts, print.ts) and the JSON that the server reads (mongo.ts).

export const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "not in"] as const;

export type Operator = (typeof OPERATORS)[number];
export type Value = number | string | boolean | null | readonly Value[];

export type Condition =
  | { readonly kind: "and"; readonly parts: readonly Condition[] }
  | { readonly kind: "or"; readonly parts: readonly Condition[] }
  | { readonly kind: "not"; readonly of: Condition }
  | { readonly kind: "compare"; readonly field: string; readonly operator: Operator; readonly value: Value }
  | { readonly kind: "exists"; readonly field: string };

/** Fields that every run has; the others begin with one of the sections. */
export const OWN_FIELDS = [
  "name",
  "id",
  "state",
  "tags",
  "notes",
  "group",
  "job_type",
  "user",
  "username",
  "host",
  "created_at",
  "created_ns",
  "started_ns",
  "ended_ns",
  "heartbeat_ns",
  "changed_ns",
  "runtime",
  "num_rows",
  "parent",
  "entity",
  "project",
  "display_name",
  "displayName",
  "createdAt",
  "jobType",
] as const;

export const SECTIONS = ["config", "summary", "metadata", "summary_metrics", "summaryMetrics"] as const;

/** Tell whether runs may have such a field. */
export function isField(name: string): boolean {
  if ((OWN_FIELDS as readonly string[]).includes(name)) return true;
  if (/^(min|max|mean|first|last)\(.+\)$/s.test(name)) return true;
  const dot = name.indexOf(".");
  return dot > 0 && dot < name.length - 1 && (SECTIONS as readonly string[]).includes(name.slice(0, dot));
}

export const NAME_FIELD = "name";

/** Return the pattern by which a bare word is looked for in the name: anywhere, in upper or lower case. */
export function wordPattern(word: string): string {
  return `(?i)${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`;
}

/** Return the word that a pattern was made of, null if it is another pattern. */
export function patternWord(pattern: string): string | null {
  const word = pattern.replace(/^\(\?i\)/, "").replace(/\\([.*+?^${}()|[\]\\])/g, "$1");
  return word !== "" && wordPattern(word) === pattern ? word : null;
}
