// The JSON documents of the API, as far as pages read them. Times end in `_ns`: nanoseconds since the epoch, which a
// double holds to within a microsecond. NaN and the infinities come as the texts "NaN", "Infinity", "-Infinity".

export type Scope = "read" | "write" | "admin";
export type Access = "private" | "team" | "public";
export type RunState = "running" | "finished" | "failed" | "crashed" | "killed" | "preempted";

/** GET /api/v1/server */
export interface ServerFacts {
  server: string;
  version: string;
  protocols: [number, number];
  auth: boolean;
  entity: string | null;
  user: string | null;
  scopes: Scope[];
}

/** POST /api/v1/login */
export interface Session {
  user: string | null;
  entity: string | null;
  scope: Scope | null;
  is_admin: boolean;
}

/** A page of a list. */
export interface Paged<Item> {
  items: Item[];
  cursor: string | null;
  total?: number | null;
  /** Of runs: those that a figure such as min(loss) is still being worked out for. */
  pending?: number;
}

/** GET /api/v1/projects */
export interface ProjectOverview {
  entity: string;
  name: string;
  access: Access;
  description: string;
  created_ns: number;
  retention_days: number | null;
  quota_bytes: number | null;
  num_runs: number;
  num_running: number;
  active_ns: number;
  /** Runs begun per day, the last is today (UTC). */
  activity: number[];
}

/** GET /api/v1/projects/{entity}/{project}/runs */
export interface RunItem {
  entity: string;
  project: string;
  id: string;
  name: string;
  state: RunState;
  created_ns: number;
  started_ns: number | null;
  ended_ns: number | null;
  heartbeat_ns: number;
  runtime_s: number | null;
  version: number;
  deleted_ns: number | null;
  stop_by: string | null;
  num_rows: number;
  /** The path of the run that it was forked from, and the last step taken over. */
  parent: string | null;
  fork_step: number | null;
  last_step: number | null;
  tags: string[];
  notes: string;
  group: string | null;
  job_type: string | null;
  user: string;
  host: string | null;
  values: Record<string, unknown> | null;
  config: Record<string, unknown> | null;
  summary: Record<string, unknown> | null;
}

export interface Statistics {
  count: number;
  num_nan: number;
  mean: number | null;
  min: number | null;
  max: number | null;
  std: number | null;
}

/** GET /api/v1/projects/{entity}/{project}/groups */
export interface RunGroup {
  values: unknown[];
  key: string;
  num_runs: number;
  metrics: Record<string, Statistics>;
}

/** GET /api/v1/projects/{entity}/{project}/fields */
export interface FieldFacts {
  name: string;
  kinds: string[];
  num_runs: number;
  min: number | null;
  max: number | null;
}

export interface AttemptFacts {
  number: number;
  state: RunState;
  started_ns: number | null;
  ended_ns: number | null;
  host: string;
  from_step: number | null;
  writers: string[];
  rejected: number;
  exit_code: number | null;
  error: string | null;
  share: number | null;
}

/** GET /api/v1/runs/{entity}/{project}/{run} */
export interface RunDocument extends Omit<RunItem, "values" | "config" | "summary" | "runtime_s"> {
  changed_ns: number;
  config: Record<string, unknown>;
  summary: Record<string, unknown>;
  metadata: Record<string, unknown>;
  attempts: AttemptFacts[];
  keys: string[];
  metrics: Record<string, Record<string, unknown>>;
}

/** GET /api/v1/runs/{entity}/{project}/{run}/digests */
export interface Digest {
  count: number;
  min: number | null;
  max: number | null;
  min_step: number | null;
  max_step: number | null;
  mean: number | null;
  first: number | string;
  last: number | string;
  first_step: number;
  last_step: number;
  nan: number;
  posinf: number;
  neginf: number;
}

/** POST /api/v1/metrics */
export interface SharedKey {
  key: string;
  is_system: boolean;
  has_points: boolean;
  has_objects: boolean;
  num_runs: number;
  /** If it was asked for: which way is better. */
  goal: "minimize" | "maximize" | null;
}

/** GET /api/v1/projects/{entity}/{project}/views */
export interface SavedView {
  id: number;
  name: string;
  owner: string;
  document: Record<string, unknown>;
  version: number;
  created_ns: number;
  changed_ns: number;
  changed_by: string;
}
