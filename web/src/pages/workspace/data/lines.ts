// What a panel draws: curves of runs become lines, smoothed, subtracted, put together in groups. Pure. The line of a curve
// is kept as long as the curve is, so that a new point costs its own line and not all.

import { sortedByX } from "../../../series/align";
import type { Curve, Line, LineStyle } from "../../../series/curve";
import { lineOf } from "../../../series/curve";
import type { Expression } from "../../../series/expression";
import { evaluate, type XY } from "../../../series/expression-value";
import { aggregate } from "../../../series/group";
import { COLOURS, DASHES, hashOf } from "../../../series/palette";
import { smooth, smoothingUnit } from "../../../series/smooth";
import type { ChartOptions } from "../../../view/state";
import { differenceOf } from "./difference";

export interface DrawnStyle {
  /** The run's id, or its group's. */
  readonly id: string;
  readonly label: string;
  readonly colour: string;
  readonly dash: readonly number[];
}

export interface LinesOf {
  /** By path. */
  readonly runs: ReadonlyMap<string, DrawnStyle>;
  /** Null if runs are drawn one by one. */
  readonly groups: readonly { readonly style: DrawnStyle; readonly runs: readonly string[] }[] | null;
  /** What is drawn of each run; "" is the expression. */
  readonly keys: readonly string[];
  /** Those of them that the right axis measures, and which are drawn beside an expression. */
  readonly right: ReadonlySet<string>;
  /** What a key is called. */
  readonly titleOf: (key: string) => string;
  readonly expression: Expression | null;
  readonly options: ChartOptions;
  /** What others are compared with: the path of a run, or the id of a group. */
  readonly baseline: string | null;
}

/** What parts a line's id: the run (or group), the key where there are several, and "raw" for the faint line. */
const PART = "\n";
const WIDTH = 1.5;
const RIGHT_WIDTH = 1.1;
const GROUP_WIDTH = 2;

/** The run or group that a line is of. */
export function ownerOf(lineId: string): string {
  return lineId.split(PART, 1)[0] as string;
}

/** Return the lines of a panel, faint ones first, then those of the left axis; `whole` are the same curves unzoomed. */
export function linesOf(curves: readonly Curve[], what: LinesOf, whole: readonly Curve[] = curves): Line[] {
  const singles = curveLines(curves, what, whole);
  if (what.expression) singles.unshift(...expressionLines(curves, what, what.expression));
  return drawnLines(singles, what).sort(
    (a, b) => Number(b.faint) - Number(a.faint) || Number(a.isRight ?? false) - Number(b.isRight ?? false),
  );
}

function drawnLines(singles: readonly Single[], what: LinesOf): Line[] {
  const { groups, baseline } = what;
  const base = what.options.difference ? baseline : null;
  // A group is compared with as it is drawn, so that its own line is zero throughout; a run as it was logged.
  if (groups?.some(({ style }) => style.id === base)) {
    return comparedWith(base, groupLines(singles, what)).map((one) => one.line);
  }
  const compared = comparedWith(base, singles);
  if (groups === null) return compared.flatMap((one) => dressed(one, what));
  return groupLines(compared, what).map((one) => one.line);
}

/** A line, and what it is of. */
interface Owned {
  /** The path of a run, or the id of a group. */
  readonly owner: string;
  readonly key: string;
  readonly line: Line;
}

/** A line of one run and key, before it is smoothed. */
interface Single extends Owned {
  /** What smoothing calls one: of the whole curve, so that zooming does not change it. */
  readonly unit: number;
}

const kept = new WeakMap<Curve, { name: string; single: Single }>();

function curveLines(curves: readonly Curve[], what: LinesOf, whole: readonly Curve[]): Single[] {
  const singles: Single[] = [];
  for (const [i, curve] of curves.entries()) {
    const style = what.runs.get(curve.run);
    // what only an expression needs is not drawn itself
    if (style === undefined || !what.keys.includes(curve.key)) continue;
    const dressed = styleOf(style, curve.key, what, curve.lane);
    const unit = smoothingUnit((whole[i] ?? curve).x);
    const name = `${unit}${JSON.stringify(dressed)}`;
    const known = kept.get(curve);
    if (known?.name === name) {
      singles.push(known.single);
      continue;
    }
    const line = sortedByX(lineOf(curve, dressed));
    const single = { owner: curve.run, key: curve.key, line, unit };
    kept.set(curve, { name, single });
    singles.push(single);
  }
  return singles;
}

function expressionLines(curves: readonly Curve[], what: LinesOf, expression: Expression): Single[] {
  const byRun = new Map<string, Map<string, XY>>();
  for (const curve of curves) {
    const known = byRun.get(curve.run) ?? new Map<string, XY>();
    known.set(curve.key, sortedByX({ x: curve.x, y: curve.mean, low: null, high: null }));
    byRun.set(curve.run, known);
  }
  const singles: Single[] = [];
  for (const [run, known] of byRun) {
    const style = what.runs.get(run);
    const value = style === undefined ? null : evaluate(expression, known);
    if (style === undefined || value === null) continue;
    const line: Line = {
      ...styleOf(style, "", what),
      ...value,
      y: value.y.map((one) => (Number.isFinite(one) ? one : Number.NaN)),
      low: null,
      high: null,
      marks: [],
      members: 1,
    };
    singles.push({ owner: run, key: "", line, unit: smoothingUnit(line.x) });
  }
  return singles;
}

/** With several keys in a panel, dashes tell keys apart; colours do where there is but one run. */
function styleOf(style: DrawnStyle, key: string, what: LinesOf, lane = ""): LineStyle {
  const { keys, right, runs, groups } = what;
  const isOne = keys.length < 2 && lane === "";
  const isLone = runs.size === 1 && groups === null;
  const place = Math.max(0, keys.indexOf(key));
  return {
    id: isOne ? style.id : [style.id, key, ...(lane === "" ? [] : [lane])].join(PART),
    label: isOne || key === "" ? style.label : `${style.label} · ${what.titleOf(key)}`,
    colour: !isOne && isLone ? keyColour(key) : style.colour,
    dash: [...(isOne || isLone ? style.dash : (DASHES[place % DASHES.length] ?? []))],
    width: right.has(key) ? RIGHT_WIDTH : WIDTH,
    faint: false,
    ...(right.has(key) && { isRight: true }),
  };
}

export function keyColour(key: string): string {
  return COLOURS[hashOf(key) % COLOURS.length] as string;
}

function comparedWith<T extends Owned>(baseline: string | null, lines: readonly T[]): readonly T[] {
  if (baseline === null) return lines;
  const own = lines.filter((one) => one.owner === baseline && !one.line.faint);
  const bases = new Map(own.map((one) => [one.key, one.line]));
  return lines.flatMap((one) => {
    const base = bases.get(one.key);
    return base === undefined ? [] : [{ ...one, line: differenceOf(one.line, base) }];
  });
}

/** The line as it is drawn: smoothed, with what was logged faintly behind it. */
function dressed({ line, unit }: Single, { options }: LinesOf): Line[] {
  const smoothed = smoothedLine(line, unit, options);
  if (smoothed === line) return [line];
  return [{ ...line, id: `${line.id}${PART}raw`, faint: true, marks: [] }, smoothed];
}

function smoothedLine(line: Line, unit: number, { smoothing, yScale, rightScale }: ChartOptions): Line {
  if (smoothing.kind === "none" || smoothing.amount <= 0) return line;
  const scale = line.isRight ? rightScale : yScale;
  const y = smooth(line.x, line.y, smoothing, { unit, log: scale === "log" });
  return y === line.y ? line : { ...line, y, low: null, high: null };
}

function groupLines(singles: readonly Single[], what: LinesOf): Owned[] {
  const { options, keys } = what;
  const lines: Owned[] = [];
  for (const { style, runs } of what.groups ?? []) {
    const own = new Set(runs);
    for (const key of keys) {
      const members = singles.filter((one) => one.key === key && own.has(one.owner));
      if (members.length === 0) continue;
      const unit = members.reduce((most, one) => Math.max(most, one.unit), 0);
      const smoothed = members.map((one) => smoothedLine(one.line, unit, options));
      if (options.aggregate.members) {
        for (const line of smoothed) {
          const id = `${style.id}${PART}${line.id}`;
          const member = { ...line, id, colour: style.colour, faint: true, low: null, high: null };
          lines.push({ owner: style.id, key, line: member });
        }
      }
      const { x, y, low, high } = aggregate(smoothed, options.aggregate);
      const marks = members.flatMap((one) => one.line.marks);
      const dressed = styleOf(style, key, what);
      const width = dressed.isRight ? WIDTH : GROUP_WIDTH;
      const count = new Set(members.map((one) => one.owner)).size;
      const line = { ...dressed, width, x, y, low, high, marks, members: count };
      lines.push({ owner: style.id, key, line });
    }
  }
  return lines;
}
