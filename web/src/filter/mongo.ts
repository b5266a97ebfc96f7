// Condition to the filter JSON of docs/runs-table.md, and back.

import type { Condition, Operator, Value } from "./condition";

export type Mongo = { readonly [key: string]: unknown };

const NAMES: Readonly<Record<Exclude<Operator, "=" | "!~">, string>> = {
  "!=": "$ne",
  "<": "$lt",
  "<=": "$lte",
  ">": "$gt",
  ">=": "$gte",
  "~": "$regex",
  in: "$in",
  "not in": "$nin",
};

/** Return the filter of a condition; {} for none, which means every run. */
export function toMongo(condition: Condition | null): Mongo {
  if (condition === null) return {};
  switch (condition.kind) {
    case "or":
      return { $or: condition.parts.map(toMongo) };
    case "and":
      return conjunction(condition.parts.map(toMongo));
    case "not":
      if (condition.of.kind === "exists") return { [condition.of.field]: { $exists: false } };
      return { $not: toMongo(condition.of) };
    case "exists":
      return { [condition.field]: { $exists: true } };
    case "compare": {
      const { field, operator, value } = condition;
      if (operator === "=") return { [field]: value };
      if (operator === "!~") return { [field]: { $not: { $regex: value } } };
      return { [field]: { [NAMES[operator]]: value } };
    }
  }
}

/** One flat filter where no field is named twice, else $and. */
function conjunction(parts: readonly Mongo[]): Mongo {
  const names = parts.flatMap((part) => Object.keys(part));
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { $and: parts };
}

/** Return a filter as JSON text; NaN and infinities stand as they are, as the server reads them. */
export function mongoText(value: unknown): string {
  if (typeof value === "number") return Object.is(value, -0) ? "0" : String(value);
  if (Array.isArray(value)) return `[${value.map(mongoText).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${mongoText(item)}`)
      .join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}

/** A filter that the text language cannot say. */
export class NotExpressible extends Error {}

/** Return the condition of a filter, null for {}; throw NotExpressible for what has no text. */
export function fromMongo(filter: unknown): Condition | null {
  if (!isMap(filter)) throw new NotExpressible(`a filter is an object, not ${mongoText(filter)}`);
  return joined(
    "and",
    Object.entries(filter).map(([key, operand]) => entry(key, operand)),
  );
}

function entry(key: string, operand: unknown): Condition {
  if (key === "$and" || key === "$or" || key === "$nor") {
    if (!Array.isArray(operand) || operand.length === 0)
      throw new NotExpressible(`${key} takes a list of filters`);
    const parts = operand.map(whole);
    const condition = joined(key === "$and" ? "and" : "or", parts) as Condition;
    return key === "$nor" ? { kind: "not", of: condition } : condition;
  }
  if (key === "$not") return { kind: "not", of: whole(operand) };
  if (key.startsWith("$")) throw new NotExpressible(`${key} is not known`);
  if (!isMap(operand)) return { kind: "compare", field: key, operator: "=", value: readValue(operand) };
  const tests = Object.entries(operand).map(([operator, value]) => test(key, operator, value));
  const condition = joined("and", tests);
  if (condition === null) throw new NotExpressible(`${key} is compared with a map`);
  return condition;
}

function whole(filter: unknown): Condition {
  const condition = fromMongo(filter);
  if (condition === null) throw new NotExpressible("an empty filter within another");
  return condition;
}

function test(field: string, operator: string, operand: unknown): Condition {
  if (operator === "$exists") {
    const exists: Condition = { kind: "exists", field };
    return operand ? exists : { kind: "not", of: exists };
  }
  if (operator === "$eq") return { kind: "compare", field, operator: "=", value: readValue(operand) };
  if (operator === "$not") {
    if (isMap(operand) && Object.keys(operand).length === 1 && "$regex" in operand) {
      return { kind: "compare", field, operator: "!~", value: readValue(operand.$regex) };
    }
    return { kind: "not", of: entry(field, operand) };
  }
  const known = (Object.keys(NAMES) as (keyof typeof NAMES)[]).find((name) => NAMES[name] === operator);
  if (known === undefined) throw new NotExpressible(`${operator} of ${field} is not known`);
  return { kind: "compare", field, operator: known, value: readValue(operand) };
}

function joined(kind: "and" | "or", parts: readonly Condition[]): Condition | null {
  if (parts.length <= 1) return parts[0] ?? null;
  return { kind, parts: parts.flatMap((part) => (part.kind === kind ? part.parts : [part])) };
}

function isMap(value: unknown): value is Mongo {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(readValue);
  if (isMap(value) || value === undefined) throw new NotExpressible("a comparison with a map");
  return value as Value;
}
