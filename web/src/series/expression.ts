// Expressions of panels: `train/loss - val/loss`, `ema(loss, 0.9)`, `"weird key" / 2`. Text to tree here; expression-value.ts
// computes. A name may hold letters, digits, _ . and /; a slash with no space around it belongs to the name, so
// `a/b` is a key and `a / b` a quotient. Any other name goes into quotes.

export type Operator = "+" | "-" | "*" | "/" | "^";

export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "key"; readonly key: string; readonly at: number }
  | { readonly kind: "negate"; readonly of: Expression }
  | {
      readonly kind: "operation";
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: readonly Expression[];
      readonly at: number;
    };

/** Functions with the least and the most arguments, and what completion says of them. */
export const FUNCTIONS: Readonly<Record<string, { least: number; most: number; help: string }>> = {
  abs: { least: 1, most: 1, help: "abs(x): size without sign" },
  ceil: { least: 1, most: 1, help: "ceil(x): next whole number" },
  cummax: { least: 1, most: 1, help: "cummax(x): greatest so far" },
  cummin: { least: 1, most: 1, help: "cummin(x): least so far" },
  cumsum: { least: 1, most: 1, help: "cumsum(x): sum so far" },
  diff: { least: 1, most: 1, help: "diff(x): change from the point before" },
  ema: { least: 1, most: 2, help: "ema(x, 0.9): exponential average by distance along x" },
  exp: { least: 1, most: 1, help: "exp(x)" },
  floor: { least: 1, most: 1, help: "floor(x): whole number below" },
  log: { least: 1, most: 1, help: "log(x): natural logarithm" },
  log10: { least: 1, most: 1, help: "log10(x)" },
  log2: { least: 1, most: 1, help: "log2(x)" },
  max: { least: 2, most: 20, help: "max(a, b, ...): the greatest at each x" },
  min: { least: 2, most: 20, help: "min(a, b, ...): the least at each x" },
  sqrt: { least: 1, most: 1, help: "sqrt(x)" },
};

/** What is wrong with an expression, and where. */
export class ExpressionError extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(`${message} (at character ${at + 1})`);
    this.name = "ExpressionError";
  }
}

/** Return the tree of an expression; throw ExpressionError with the place of what is wrong. */
export function parseExpression(text: string): Expression {
  return new Parser(text).whole();
}

/** Return the keys that an expression reads, each once, in order. */
export function keysOf(expression: Expression): string[] {
  const found = new Set<string>();
  const walk = (node: Expression): void => {
    if (node.kind === "key") found.add(node.key);
    else if (node.kind === "negate") walk(node.of);
    else if (node.kind === "call") node.args.forEach(walk);
    else if (node.kind === "operation") {
      walk(node.left);
      walk(node.right);
    }
  };
  walk(expression);
  return Array.from(found);
}

const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_]|\/[\p{L}_])/uy;
const NAME = /[\p{L}\p{N}_]+(?:[./]+[\p{L}\p{N}_]+)*/uy;
const SPACE = /\s*/y;
const DEEPEST = 100;

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly text: string) {}

  whole(): Expression {
    this.skip();
    if (this.at >= this.text.length)
      throw new ExpressionError("the expression is empty: write a metric's name", 0);
    const tree = this.sum();
    if (this.at < this.text.length) throw this.unexpected("an operator such as + - * / or the end");
    return tree;
  }

  private sum(): Expression {
    let left = this.product();
    for (let operator = this.take("+-"); operator; operator = this.take("+-")) {
      left = { kind: "operation", operator, left, right: this.product() };
    }
    return left;
  }

  private product(): Expression {
    let left = this.signed();
    for (let operator = this.take("*/"); operator; operator = this.take("*/")) {
      left = { kind: "operation", operator, left, right: this.signed() };
    }
    return left;
  }

  private signed(): Expression {
    if (++this.depth > DEEPEST) throw new ExpressionError(`more than ${DEEPEST} levels`, this.at);
    try {
      if (this.take("-")) return { kind: "negate", of: this.signed() };
      if (this.take("+")) return this.signed();
      const base = this.atom();
      if (!this.take("^")) return base;
      return { kind: "operation", operator: "^", left: base, right: this.signed() };
    } finally {
      this.depth--;
    }
  }

  private atom(): Expression {
    const start = this.at;
    if (this.take("(")) {
      const inner = this.sum();
      if (!this.take(")")) throw this.unexpected(`")" for the "(" at character ${start + 1}`);
      return inner;
    }
    const quote = this.text[start];
    if (quote === '"' || quote === "'") return { kind: "key", key: this.quoted(quote), at: start };
    const digits = this.match(NUMBER);
    if (digits !== null) return { kind: "number", value: Number(digits) };
    const name = this.match(NAME);
    if (name === null) throw this.unexpected("a metric's name, a number or (");
    return this.text[this.at] === "(" ? this.call(name, start) : { kind: "key", key: name, at: start };
  }

  private call(name: string, start: number): Expression {
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (known === undefined) {
      throw new ExpressionError(
        `there is no function ${name}; there are ${Object.keys(FUNCTIONS).join(", ")}`,
        start,
      );
    }
    this.take("(");
    const args: Expression[] = [];
    if (!this.take(")")) {
      do args.push(this.sum());
      while (this.take(","));
      if (!this.take(")")) throw this.unexpected(`, or ) in ${name}(...)`);
    }
    if (args.length < known.least || args.length > known.most) {
      const wanted = known.least === known.most ? `${known.least}` : `${known.least} to ${known.most}`;
      throw new ExpressionError(
        `${name} takes ${wanted} arguments, not ${args.length}: ${known.help}`,
        start,
      );
    }
    return { kind: "call", name, args, at: start };
  }

  /** A name in quotes; a backslash takes the next character as it is. */
  private quoted(quote: string): string {
    const start = this.at++;
    let key = "";
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at] as string;
      if (character === quote) {
        this.at++;
        this.skip();
        if (key === "") throw new ExpressionError("a name is empty", start);
        return key;
      }
      if (character === "\\" && this.at + 1 < this.text.length) key += this.text[++this.at];
      else key += character;
    }
    throw new ExpressionError(`the quote ${quote} is not closed`, start);
  }

  /** Take one of some characters, with the space behind it. `**` is `^`. */
  private take<C extends string>(characters: C): Operator | undefined {
    let found = this.text[this.at];
    let width = 1;
    if (this.text.startsWith("**", this.at)) [found, width] = ["^", 2];
    if (found === undefined || !characters.includes(found)) return undefined;
    this.at += width;
    this.skip();
    return found as Operator;
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    this.skip();
    return found;
  }

  private skip(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
  }

  private unexpected(wanted: string): ExpressionError {
    const found = this.text[this.at];
    if (found === undefined)
      return new ExpressionError(`the expression ends where ${wanted} should come`, this.at);
    return new ExpressionError(
      `"${found}" where ${wanted} should come; put other names into quotes`,
      this.at,
    );
  }
}
