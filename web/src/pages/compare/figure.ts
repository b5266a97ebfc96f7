// What a metric of a run comes to (last, least, greatest, best), and how it differs from the baseline's. Pure.

import type { Goal } from "../../runs/best";
import { delta } from "../../series/format";
import type { Digest } from "../../server/types";

export const FIGURES = ["best", "last", "min", "max", "mean"] as const;
export type Figure = (typeof FIGURES)[number];

export interface Value {
  readonly value: number;
  readonly step: number | null;
}

/** Return a figure of a metric, null if there is none. Without a goal nobody knows the best, so that is the last. */
export function figureOf(digest: Digest | undefined, figure: Figure, goal: Goal | null): Value | null {
  if (digest === undefined || digest.count === 0) return null;
  const meant = figure === "best" ? (goal ?? "last") : figure;
  const value = digest[meant];
  if (value === null || value === undefined) return null;
  const step =
    meant === "min"
      ? digest.min_step
      : meant === "max"
        ? digest.max_step
        : meant === "last"
          ? digest.last_step
          : null;
  return { value: Number(value), step };
}

export type Verdict = "better" | "worse" | "same" | "unknown";

export interface Delta {
  readonly change: number;
  /** Of the baseline's size; null if that is 0 or not finite. */
  readonly share: number | null;
  readonly verdict: Verdict;
}

/** Return how a value differs from the baseline's, null if one of them is missing or not finite. */
export function deltaOf(value: number | null, base: number | null, goal: Goal | null): Delta | null {
  if (value === null || base === null || !Number.isFinite(value) || !Number.isFinite(base)) return null;
  const change = value - base;
  const share = base === 0 ? null : change / Math.abs(base);
  if (change === 0) return { change, share: share === null ? null : 0, verdict: "same" };
  if (goal === null) return { change, share, verdict: "unknown" };
  return { change, share, verdict: change > 0 === (goal === "max") ? "better" : "worse" };
}

/** "+0.012 (+3.1 %)" */
export function deltaText({ change, share }: Delta): string {
  if (change === 0) return "same";
  return share === null ? delta(change) : `${delta(change)} (${shareText(share)})`;
}

export function shareText(share: number): string {
  return `${delta(share * 100, 2)} %`;
}

/** Read what a person said is better: "key:min", "key:max", "key:none". */
export function saidGoals(goals: readonly string[]): Map<string, Goal | null> {
  const said = new Map<string, Goal | null>();
  for (const one of goals) {
    const cut = one.lastIndexOf(":");
    const goal = one.slice(cut + 1);
    if (cut > 0 && /^(min|max|none)$/.test(goal)) {
      said.set(one.slice(0, cut), goal === "none" ? null : (goal as Goal));
    }
  }
  return said;
}

/** Return the goals after a key's was turned to the next one: lower, higher, nobody knows. */
export function turnGoal(goals: readonly string[], key: string, now: Goal | null): string[] {
  const next = now === "min" ? "max" : now === "max" ? "none" : "min";
  const others = goals.filter((one) => one.slice(0, one.lastIndexOf(":")) !== key);
  return [...others, `${key}:${next}`];
}
