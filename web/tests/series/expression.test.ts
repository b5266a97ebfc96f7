import { describe, expect, it } from "vitest";
import { ExpressionError, keysOf, parseExpression } from "../../src/series/expression";
import { evaluate, type XY } from "../../src/series/expression-value";
import { smooth } from "../../src/series/smooth";

const f = (...values: number[]): Float64Array => Float64Array.from(values);
const x = f(0, 1, 2, 3);
const curves = new Map<string, XY>([
  ["a", { x, y: f(1, 2, 3, 4) }],
  ["b", { x, y: f(10, 20, 0, NaN) }],
  ["train/loss", { x, y: f(4, 3, 2, 1) }],
  ["val/loss", { x: f(1, 3), y: f(10, 20) }],
  ["a/b", { x, y: f(7, 7, 7, 7) }],
  ["weird key", { x, y: f(-1, 0, 1, 2) }],
  ["layer.0/w_1", { x, y: f(5, 5, 5, 5) }],
  ["2/loss", { x, y: f(6, 6, 6, 6) }],
  ["late", { x: f(10, 11), y: f(1, 1) }],
  ["empty", { x: f(), y: f() }],
]);

const values = (text: string): number[] | null => {
  const found = evaluate(parseExpression(text), curves);
  return found === null ? null : Array.from(found.y);
};

describe("evaluation", () => {
  it.each<[string, number[]]>([
    ["a", [1, 2, 3, 4]],
    ["a + b", [11, 22, 3, NaN]],
    ["a / b", [0.1, 0.1, Infinity, NaN]],
    ["a/b", [7, 7, 7, 7]],
    ["a /b", [0.1, 0.1, Infinity, NaN]],
    ["1 - a", [0, -1, -2, -3]],
    ["a - 1 - 1", [-1, 0, 1, 2]],
    ["2 * (a + 1)", [4, 6, 8, 10]],
    ["2 + a * 3", [5, 8, 11, 14]],
    ["-a ^ 2", [-1, -4, -9, -16]],
    ["a ** 2", [1, 4, 9, 16]],
    ["2 ^ -a", [0.5, 0.25, 0.125, 0.0625]],
    ["2 ^ 3 ^ 0 * a", [2, 4, 6, 8]],
    ["-(-a)", [1, 2, 3, 4]],
    ["a * 1e-2", [0.01, 0.02, 0.03, 0.04]],
    ["a*.5", [0.5, 1, 1.5, 2]],
    ["a * 1/2", [0.5, 1, 1.5, 2]],
    ['abs("weird key")', [1, 0, 1, 2]],
    ["log( 'weird key' )", [NaN, -Infinity, 0, Math.log(2)]],
    ["min(a, 2.5, train/loss)", [1, 2, 2, 1]],
    ["max (a, train/loss)", [4, 3, 3, 4]],
    ["cumsum(a)", [1, 3, 6, 10]],
    ["cummax(b)", [10, 20, 20, NaN]],
    ["cummin(train/loss)", [4, 3, 2, 1]],
    ["sqrt(a*a)", [1, 2, 3, 4]],
    ["layer.0/w_1 + 2/loss", [11, 11, 11, 11]],
    ["diff(a)", [1, 1, 1]],
  ])("%s", (text, wanted) => expect(values(text)).toEqual(wanted));

  it("joins by steps, only where both are: no extrapolation", () => {
    const found = evaluate(parseExpression("val/loss - train/loss"), curves) as XY;
    expect(found.x).toEqual(f(1, 2, 3));
    expect(found.y).toEqual(f(7, 8, 19));
    expect(values("a + late")).toEqual([]);
    expect(values("a + empty")).toEqual([]);
  });

  it("averages as the charts do", () => {
    const { y } = curves.get("train/loss") as XY;
    expect(values("ema(train/loss, 0.9)")).toEqual(Array.from(smooth(x, y, { kind: "ema", amount: 0.9 })));
    expect(values("ema(train/loss)")).toEqual(values("ema(train/loss, 0.9)"));
    expect(values("ema(train/loss, 0)")).toEqual(Array.from(y));
  });

  it("is nothing without its keys", () => {
    expect(values("a + missing")).toBeNull();
    expect(values("1 + 2")).toBeNull();
  });

  it("does not change the curves", () => {
    values("-a + cumsum(b)");
    expect(curves.get("a")?.y).toEqual(f(1, 2, 3, 4));
  });
});

it("lists keys once, in order", () => {
  expect(keysOf(parseExpression('val/loss - min(a, "weird key") * val/loss + 3'))).toEqual([
    "val/loss",
    "a",
    "weird key",
  ]);
  expect(keysOf(parseExpression('"say \\"hi\\""'))).toEqual(['say "hi"']);
  expect(keysOf(parseExpression("größe/漢字 + 3d/x"))).toEqual(["größe/漢字", "3d/x"]);
});

describe("errors say where", () => {
  it.each<[string, number, RegExp]>([
    ["", 0, /empty/],
    ["   ", 0, /empty/],
    ["a +", 3, /ends where a metric's name/],
    ["a + * b", 4, /"\*" where a metric's name/],
    ["(a + b", 6, /"\)" for the "\(" at character 1/],
    ["a b", 2, /an operator/],
    ["a)", 1, /"\)" where an operator/],
    ["foo(a)", 0, /no function foo; there are abs/],
    ["toString(a)", 0, /no function/],
    ["1 + ema()", 4, /ema takes 1 to 2 arguments, not 0/],
    ["log(a, b)", 0, /log takes 1 arguments, not 2/],
    ["min(a", 5, /, or \) in min/],
    ['"abc', 0, /not closed/],
    ['a + ""', 4, /empty/],
    ["a # b", 2, /"#"/],
    [`${"(".repeat(150)}a`, 100, /levels/],
    ["-".repeat(150), 100, /levels/],
  ])("%s", (text, at, message) => {
    try {
      parseExpression(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError);
      expect((error as ExpressionError).message).toMatch(message);
      expect((error as ExpressionError).message).toContain(`(at character ${at + 1})`);
      expect((error as ExpressionError).at).toBe(at);
    }
  });
});
