// Condition to text: what parse.ts reads back as the same condition, with as few quotes and parentheses as that allows.

import { type Condition, isField, NAME_FIELD, patternWord, type Value } from "./condition";
import { fieldText, isPlainWord, quoted } from "./token";

/** Return the text of a condition, "" for none. */
export function printFilter(condition: Condition | null): string {
  return condition === null ? "" : printed(condition);
}

function printed(condition: Condition): string {
  switch (condition.kind) {
    case "or":
      return condition.parts.map(printed).join(" or ");
    case "and":
      return condition.parts
        .map((part) => (part.kind === "or" ? `(${printed(part)})` : printed(part)))
        .join(" and ");
    case "not":
      return negated(condition.of);
    case "exists":
      return `${fieldName(condition.field)} exists`;
    case "compare":
      return comparison(condition);
  }
}

function negated(condition: Condition): string {
  if (condition.kind === "exists") return `${fieldText(condition.field)} not exists`;
  const isTight = condition.kind === "compare" || condition.kind === "not";
  return isTight ? `not ${printed(condition)}` : `not (${printed(condition)})`;
}

function comparison({ field, operator, value }: Extract<Condition, { kind: "compare" }>): string {
  if (operator === "~" && field === NAME_FIELD && typeof value === "string") {
    const word = patternWord(value);
    if (word !== null) return isPlainWord(word) ? word : quoted(word);
  }
  const name = fieldName(field);
  if (field === "tags" && typeof value === "string" && (operator === "=" || operator === "!=")) {
    return `${name} ${operator === "=" ? "has" : "not has"} ${valueText(value)}`;
  }
  const isPattern = operator === "~" || operator === "!~";
  return `${name} ${operator} ${isPattern ? quoted(String(value)) : valueText(value)}`;
}

function fieldName(field: string): string {
  return isField(field) ? fieldText(field) : quoted(field, "`");
}

/** Return a value as it is written in a filter. */
export function valueText(value: Value): string {
  if (typeof value === "string") return isPlainWord(value) ? value : quoted(value);
  if (typeof value === "object" && value !== null) return `[${value.map(valueText).join(", ")}]`;
  if (typeof value !== "number" || Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
}
