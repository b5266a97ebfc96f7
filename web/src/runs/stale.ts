// Runs that should be running but have not been heard of. Pure.

import type { RunItem } from "../server/types";

/** Agents send a sign of life far more often than this. */
const SILENT_MS = 60_000;

/** Return since when (ms) nothing was heard of a run that is meant to run; null if all is well, or it has ended. */
export function staleSince(run: Pick<RunItem, "state" | "heartbeat_ns">, nowMs: number): number | null {
  if (run.state !== "running") return null;
  const heard = run.heartbeat_ns / 1e6;
  return nowMs - heard > SILENT_MS ? heard : null;
}
