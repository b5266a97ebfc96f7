// Which value of a metric is its best. Which way is better the server says. Pure.

import type { Digest } from "../server/types";

export type Goal = "min" | "max";

/** As the server says it. */
export type ToldGoal = "minimize" | "maximize" | null;

export function goalOf(told: ToldGoal | undefined): Goal | null {
  if (told === "maximize") return "max";
  return told === "minimize" ? "min" : null;
}

export function bestOf(digest: Digest, goal: Goal | null): { value: number; step: number } | null {
  const value = goal === "max" ? digest.max : goal === "min" ? digest.min : null;
  const step = goal === "max" ? digest.max_step : digest.min_step;
  return value === null || step === null ? null : { value, step };
}
