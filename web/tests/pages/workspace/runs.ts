import type { RunGroup, RunItem } from "../../../src/server/types";

/** A run as the list has it. */
export function runOf(id: string, more: Partial<RunItem> = {}): RunItem {
  return {
    entity: "ann",
    project: "p",
    id,
    name: `run ${id}`,
    state: "finished",
    created_ns: 0,
    started_ns: 0,
    ended_ns: null,
    heartbeat_ns: 0,
    runtime_s: null,
    version: 1,
    deleted_ns: null,
    stop_by: null,
    num_rows: 0,
    parent: null,
    fork_step: null,
    last_step: null,
    tags: [],
    notes: "",
    group: null,
    job_type: null,
    user: "ann",
    host: null,
    values: {},
    config: null,
    summary: null,
    ...more,
  };
}

export function groupOf(key: string, values: unknown[], numRuns: number): RunGroup {
  return { key, values, num_runs: numRuns, metrics: {} };
}
