// Which value of a metric is its best: as `define_metric` said, else as its name suggests. Pure.

import type { Digest } from "../server/types";

export type Goal = "min" | "max";

const LOWER = /(^|[^a-z])(loss|err|error|perplexity|ppl|mae|mse|rmse|wer|cer|fid|latency|regret)([^a-z]|$)/i;
const HIGHER =
  /(^|[^a-z])(acc|accuracy|f1|auc|auroc|map|iou|dice|bleu|rouge|reward|return|precision|recall|score|r2|psnr|ssim|throughput)([^a-z]|$)/i;

/** Return what is better for a metric, null if nobody can tell. */
export function goalOf(key: string, metrics: Readonly<Record<string, Record<string, unknown>>>): Goal | null {
  const defined = definitionOf(key, metrics);
  const goal = String(defined?.goal ?? "");
  if (goal.startsWith("max")) return "max";
  if (goal.startsWith("min")) return "min";
  const summary = Array.isArray(defined?.summary) ? defined.summary : [defined?.summary];
  if (summary.includes("max") && !summary.includes("min")) return "max";
  if (summary.includes("min") && !summary.includes("max")) return "min";
  if (LOWER.test(key)) return "min";
  return HIGHER.test(key) ? "max" : null;
}

/** What was said of a key: by its name, else by the longest pattern that fits ("val/*"). */
function definitionOf(
  key: string,
  metrics: Readonly<Record<string, Record<string, unknown>>>,
): Record<string, unknown> | undefined {
  if (Object.hasOwn(metrics, key)) return metrics[key];
  const patterns = Object.keys(metrics)
    .filter((name) => name.endsWith("*") && key.startsWith(name.slice(0, -1)))
    .sort((a, b) => b.length - a.length);
  return patterns[0] === undefined ? undefined : metrics[patterns[0]];
}

export function bestOf(digest: Digest, goal: Goal | null): { value: number; step: number } | null {
  const value = goal === "max" ? digest.max : goal === "min" ? digest.min : null;
  const step = goal === "max" ? digest.max_step : digest.min_step;
  return value === null || step === null ? null : { value, step };
}
