// What an expression comes to on curves. Curves of different x are joined by step: on the union of their x, from where the
// later one begins to where the earlier one ends, each with its last value there. A constant is a constant at every x.

import { sameValues, unionOf } from "./align";
import type { Expression, Operator } from "./expression";
import { distances, ema, smoothingUnit } from "./smooth";

export interface XY {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

type Value = number | XY;

/**
 * Return the curve of an expression, null if a key that it reads has none or it reads no key at all.
 * Curves must have ascending x. Results that are not finite (0 / 0, log of 0) are as computed: gaps when drawn.
 */
export function evaluate(expression: Expression, curves: ReadonlyMap<string, XY>): XY | null {
  const value = compute(expression, curves);
  return value === null || typeof value === "number" ? null : value;
}

function compute(node: Expression, curves: ReadonlyMap<string, XY>): Value | null {
  switch (node.kind) {
    case "number":
      return node.value;
    case "key":
      return curves.get(node.key) ?? null;
    case "negate":
      return lift(compute(node.of, curves), (value) => -value);
    case "operation":
      return lift2(compute(node.left, curves), compute(node.right, curves), OPERATIONS[node.operator]);
    case "call": {
      const args: Value[] = [];
      for (const arg of node.args) {
        const value = compute(arg, curves);
        if (value === null) return null;
        args.push(value);
      }
      return call(node.name, args);
    }
  }
}

const OPERATIONS: Record<Operator, (a: number, b: number) => number> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "^": (a, b) => a ** b,
};

const POINTWISE: Record<string, (value: number) => number> = {
  abs: Math.abs,
  ceil: Math.ceil,
  exp: Math.exp,
  floor: Math.floor,
  log: Math.log,
  log10: Math.log10,
  log2: Math.log2,
  sqrt: Math.sqrt,
};

function call(name: string, args: readonly Value[]): Value | null {
  const [first, second] = args as [Value, Value | undefined];
  const pointwise = POINTWISE[name];
  if (pointwise !== undefined) return lift(first, pointwise);
  if (name === "min" || name === "max") {
    const pick = name === "min" ? Math.min : Math.max;
    return args.reduce<Value | null>((a, b) => lift2(a, b, (p, q) => pick(p, q)), first);
  }
  if (typeof first === "number") return name === "diff" ? 0 : first;
  const { x, y } = first;
  switch (name) {
    case "ema":
      return { x, y: average(x, y, typeof second === "number" ? second : 0.9) };
    case "diff":
      return { x: x.subarray(1), y: y.subarray(1).map((value, i) => value - (y[i] as number)) };
    case "cumsum":
      return { x, y: running(y, 0, (total, value) => total + value) };
    case "cummin":
      return { x, y: running(y, Number.POSITIVE_INFINITY, Math.min) };
    case "cummax":
      return { x, y: running(y, Number.NEGATIVE_INFINITY, Math.max) };
    default:
      return null;
  }
}

function average(x: Float64Array, y: Float64Array, weight: number): Float64Array {
  if (!(weight > 0)) return y;
  const along = distances(x);
  return ema(along, y, Math.min(weight, 0.9999), smoothingUnit(along));
}

/** A total so far; a gap stays a gap and does not spoil what follows. */
function running(
  y: Float64Array,
  start: number,
  add: (total: number, value: number) => number,
): Float64Array {
  let total = start;
  return y.map((value) => {
    if (Number.isNaN(value)) return value;
    total = add(total, value);
    return total;
  });
}

function lift(value: Value | null, apply: (value: number) => number): Value | null {
  if (value === null) return null;
  return typeof value === "number" ? apply(value) : { x: value.x, y: value.y.map((item) => apply(item)) };
}

function lift2(a: Value | null, b: Value | null, apply: (a: number, b: number) => number): Value | null {
  if (a === null || b === null) return null;
  if (typeof a === "number") return lift(b, (value) => apply(a, value));
  if (typeof b === "number") return lift(a, (value) => apply(value, b));
  if (sameValues(a.x, b.x)) {
    return { x: a.x, y: a.y.map((value, i) => apply(value, b.y[i] as number)) };
  }
  const { x, left, right } = joinBySteps(a, b);
  return { x, y: left.map((value, i) => apply(value, right[i] as number)) };
}

/** Return two curves on the part of the union of their x where both have begun and neither has ended. */
export function joinBySteps(a: XY, b: XY): { x: Float64Array; left: Float64Array; right: Float64Array } {
  const from = Math.max(a.x[0] ?? Number.POSITIVE_INFINITY, b.x[0] ?? Number.POSITIVE_INFINITY);
  const to = Math.min(a.x[a.x.length - 1] ?? -from, b.x[b.x.length - 1] ?? -from);
  const x = unionOf([a.x, b.x]).filter((value) => value >= from && value <= to);
  return { x, left: stepValues(a, x), right: stepValues(b, x) };
}

/** Return the last value of a curve at or before each x of an ascending grid, NaN before its first. */
export function stepValues(curve: XY, grid: Float64Array): Float64Array {
  const out = new Float64Array(grid.length);
  let at = 0;
  for (let i = 0; i < grid.length; i++) {
    while (at < curve.x.length && (curve.x[at] as number) <= (grid[i] as number)) at++;
    out[i] = at > 0 ? (curve.y[at - 1] as number) : Number.NaN;
  }
  return out;
}
