import { describe, expect, it } from "vitest";
import { type Condition, OPERATORS, type Value } from "../../src/filter/condition";
import { fromMongo, type Mongo, mongoText, NotExpressible, toMongo } from "../../src/filter/mongo";
import { parseFilter } from "../../src/filter/parse";
import { printFilter } from "../../src/filter/print";
import { Random } from "../random";

function conditionOf(text: string): Condition | null {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.problem.message}`);
  return parsed.condition;
}

const mongoOf = (text: string): Mongo => toMongo(conditionOf(text));

describe("text to filter", () => {
  it.each<[string, Mongo]>([
    ["", {}],
    ["state = finished", { state: "finished" }],
    ["state == 'finished'", { state: "finished" }],
    [
      "state = finished and config.lr < 0.1 or tags has good",
      { $or: [{ state: "finished", "config.lr": { $lt: 0.1 } }, { tags: "good" }] },
    ],
    [
      "state = finished and (config.lr<0.1 or tags has good)",
      { state: "finished", $or: [{ "config.lr": { $lt: 0.1 } }, { tags: "good" }] },
    ],
    ["summary.acc >= 0.9", { "summary.acc": { $gte: 0.9 } }],
    [
      "config.lr > 1e-4 config.lr <= 1E-2",
      { $and: [{ "config.lr": { $gt: 1e-4 } }, { "config.lr": { $lte: 0.01 } }] },
    ],
    ['name ~ "res.*\\d+"', { name: { $regex: "res.*\\d+" } }],
    ['name !~ "debug"', { name: { $not: { $regex: "debug" } } }],
    ["name ~ 50", { name: { $regex: "50" } }],
    ["not (state = running)", { $not: { state: "running" } }],
    ["NOT state = running AND config.a = true", { $not: { state: "running" }, "config.a": true }],
    ["state in [finished, 'failed', ]", { state: { $in: ["finished", "failed"] } }],
    ["config.bs not in [1, 2.5, null]", { "config.bs": { $nin: [1, 2.5, null] } }],
    ["config.lr exists", { "config.lr": { $exists: true } }],
    ["config.lr not exists", { "config.lr": { $exists: false } }],
    ["tags not has bad", { tags: { $ne: "bad" } }],
    ["config.layers = [64, 64]", { "config.layers": [64, 64] }],
    ["summary.loss = NaN", { "summary.loss": Number.NaN }],
    ["summary.loss < -inf", { "summary.loss": { $lt: Number.NEGATIVE_INFINITY } }],
    ["config.id = '1'", { "config.id": "1" }],
    ["config.n = 1_000", { "config.n": 1000 }],
    ["config.path = data/v1.2:x@y", { "config.path": "data/v1.2:x@y" }],
    ["`config.weird key` != null", { "config.weird key": { $ne: null } }],
    ["resnet", { name: { $regex: "(?i)resnet" } }],
    ["resnet 50", { $and: [{ name: { $regex: "(?i)resnet" } }, { name: { $regex: "(?i)50" } }] }],
    ['"a b" or c++', { $or: [{ name: { $regex: "(?i)a b" } }, { name: { $regex: "(?i)c\\+\\+" } }] }],
    ["a && b || !c", { $or: [{ $and: [named("a"), named("b")] }, { $not: named("c") }] }],
    ["in", { name: { $regex: "(?i)in" } }],
    ["state = and", { state: "and" }],
  ])("%s", (text, wanted) => expect(mongoOf(text)).toEqual(wanted));
});

function named(word: string): Mongo {
  return { name: { $regex: `(?i)${word}` } };
}

describe("errors say what, where, and what to write", () => {
  it.each<[string, number, number, RegExp, RegExp]>([
    ["lr < 0.1", 0, 2, /no field lr/, /config\.lr/],
    ["State = x", 0, 5, /no field State/, /did you mean state/],
    ["config. = 1", 0, 7, /no field config\./, /./],
    ["state =", 7, 7, /value is missing/, /number/],
    ["state = )", 8, 9, /"\)" where a value/, /number/],
    ["state = finished and", 20, 20, /condition is missing/, /state = finished/],
    ["(state = x", 0, 1, /not closed/, /add \)/],
    ["state = x)", 9, 10, /"\)" has no beginning/, /remove/],
    ['name ~ "abc', 7, 11, /quote " is not closed/, /add "/],
    ["state in finished", 9, 17, /list should come/, /\[a, b\]/],
    ["state in [a b]", 9, 10, /list is not closed/, /add \]/],
    ["state in [a", 9, 10, /list is not closed/, /./],
    ["and x", 0, 3, /"and" where a condition/, /./],
    ["< 5", 0, 1, /"<" where a condition/, /./],
    ["state = a = b", 10, 11, /"=" has no beginning/, /./],
    ["`config.a`", 0, 10, /field without a condition/, /exists/],
    ["'a' = 1", 0, 3, /text cannot be compared/, /field first/],
    ["name ~ [a]", 10, 10, /takes a pattern/, /quotes/],
    ["(".repeat(30), 20, 21, /levels/, /flatter/],
    ["not ".repeat(30), 76, 79, /levels/, /flatter/],
    [`config.a = ${"[".repeat(30)}`, 30, 31, /levels/, /./],
  ])("%s", (text, at, end, message, hint) => {
    const parsed = parseFilter(text);
    if (parsed.ok) expect.unreachable();
    else {
      expect(parsed.problem.message).toMatch(message);
      expect(parsed.problem.hint).toMatch(hint);
      expect([parsed.problem.at, parsed.problem.end]).toEqual([at, end]);
    }
  });

  it("knows the fields of the project", () => {
    const parsed = parseFilter("LR < 1", ["config.model.lr"]);
    expect(parsed).toMatchObject({ ok: false, problem: { hint: "did you mean config.model.lr" } });
  });

  it("never throws, whatever is written", () => {
    const random = new Random(31);
    const parts = [
      "state",
      "config.a",
      "=",
      "<",
      "~",
      "!",
      "not",
      "and",
      "or",
      "in",
      "has",
      "exists",
      "[",
      "]",
      "(",
      ")",
      ",",
      '"',
      "`",
      "1",
      "x",
    ];
    for (let round = 0; round < 5000; round++) {
      const text = random.list(10, () => random.pick(parts)).join(random.pick([" ", ""]));
      const parsed = parseFilter(text);
      if (parsed.ok) expect(conditionOf(printFilter(parsed.condition))).toEqual(parsed.condition);
      else expect(parsed.problem.at).toBeLessThanOrEqual(parsed.problem.end);
    }
  });
});

function randomValue(random: Random, depth = 0): Value {
  return random.pick<() => Value>([
    () => random.text(),
    () => random.pick(["finished", "and", "Null", "true", "nan", "1e5", "-inf", ""]),
    () => random.pick([0, -1.5, 1e-9, 1e21, 123456, NaN, Infinity, -Infinity]),
    () => random.chance(0.5),
    () => null,
    () => (depth > 1 ? 1 : random.list(3, () => randomValue(random, depth + 1))),
  ])();
}

function randomCondition(random: Random, depth = 0): Condition {
  const field = random.pick([
    "name",
    "state",
    "tags",
    "config.lr",
    "config.weird key",
    "summary.val/acc",
    "config.`\\",
    "config.not",
  ]);
  const parts = (kind: "and" | "or"): Condition[] =>
    Array.from({ length: 2 + random.below(2) }, () => randomCondition(random, depth + 1)).flatMap((part) =>
      part.kind === kind ? part.parts : [part],
    );
  if (depth < 3 && random.chance(0.5)) {
    const kind = random.pick(["and", "or", "not"] as const);
    return kind === "not" ? { kind, of: randomCondition(random, depth + 1) } : { kind, parts: parts(kind) };
  }
  if (random.chance(0.1)) return { kind: "exists", field };
  const operator = random.pick(OPERATORS);
  if (operator === "~" || operator === "!~") {
    return {
      kind: "compare",
      field,
      operator,
      value: random.chance(0.3) ? `(?i)${random.text()}` : random.text(),
    };
  }
  const isList = operator === "in" || operator === "not in";
  return {
    kind: "compare",
    field,
    operator,
    value: isList ? random.list(3, () => randomValue(random, 1)) : randomValue(random),
  };
}

describe("round trips", () => {
  it("text: what is printed is read as the same", () => {
    const random = new Random(32);
    for (let round = 0; round < 3000; round++) {
      const condition = randomCondition(random);
      expect(conditionOf(printFilter(condition)), printFilter(condition)).toEqual(condition);
    }
  });

  it("filter: what is sent is read as a condition that sends the same", () => {
    const random = new Random(33);
    for (let round = 0; round < 3000; round++) {
      const filter = toMongo(randomCondition(random));
      expect(toMongo(fromMongo(filter))).toEqual(filter);
    }
  });

  it.each([
    "state = finished and (config.lr < 0.1 or tags has good)",
    "resnet and not (a or b)",
    "config.x not exists or tags not has bad",
    'name ~ "^a b"',
    'state in [finished, failed] and config.b = "it\'s"',
    "`config.weird key` = 1",
  ])("%s is printed as it was written", (text) => expect(printFilter(conditionOf(text))).toBe(text));
});

describe("filters that others wrote", () => {
  it.each<[Mongo, string]>([
    [
      { state: "finished", "config.lr": { $gt: 0, $lt: 0.1 } },
      "state = finished and config.lr > 0 and config.lr < 0.1",
    ],
    [{ $nor: [{ tags: "a" }, { tags: "b" }] }, "not (tags has a or tags has b)"],
    [{ "config.a": { $eq: 1 } }, "config.a = 1"],
    [{ "config.a": { $not: { $gt: 1 } } }, "not config.a > 1"],
    [{ $and: [{ state: "running" }] }, "state = running"],
    [{}, ""],
  ])("%j", (filter, text) => expect(printFilter(fromMongo(filter))).toBe(text));

  it.each([
    { $where: "x" },
    { "config.a": { $near: 1 } },
    { "config.a": { b: 1 } },
    { "config.a": {} },
    { $or: [] },
    { $or: [{}] },
    { $and: "x" },
    [],
    null,
    "x",
  ])("%j has no text", (filter) => expect(() => fromMongo(filter)).toThrow(NotExpressible));
});

it("JSON has NaN and infinities as they are", () => {
  const filter = toMongo(conditionOf('summary.a in [NaN, inf, -inf, 1, "x", true, null]'));
  expect(mongoText(filter)).toBe('{"summary.a":{"$in":[NaN,Infinity,-Infinity,1,"x",true,null]}}');
  expect(JSON.parse(mongoText(mongoOf('state = "a\\"b" or config.l = [1, [2]]')))).toEqual({
    $or: [{ state: 'a"b' }, { "config.l": [1, [2]] }],
  });
});

describe("figures of metrics", () => {
  it("are fields, without quotes where the name needs none", () => {
    expect(mongoOf("min(train/loss) < 0.1 and (max(acc) >= 0.9)")).toEqual({
      "min(train/loss)": { $lt: 0.1 },
      "max(acc)": { $gte: 0.9 },
    });
    expect(mongoOf("`min(my loss)` exists")).toEqual({ "min(my loss)": { $exists: true } });
    for (const text of ["min(train/loss) < 0.1", "`min(my loss)` = 1", "`min(a(b))` = 1"])
      expect(printFilter(conditionOf(text) as Condition)).toBe(text);
  });

  it("leave a word before a bracket what it was", () => {
    expect(mongoOf("not(state = finished)")).toEqual(mongoOf("not (state = finished)"));
  });
});
