// The JSON documents that only the run page reads. Times end in `_ns`.

import type { ToldGoal } from "../../runs/best";

/** GET …/metrics */
export interface RunKeys {
  items: RunKey[];
  samplers: Sampler[];
}

/** Who sampled the system. */
export interface Sampler {
  lane: string;
  host: string;
  /** Null if it sampled for all of its host. */
  rank: number | null;
  attempt: number;
}

export interface RunKey {
  key: string;
  /** "" for what was logged, else who sampled the system. */
  lane: string;
  has_points: boolean;
  has_objects: boolean;
  /** Which way is better; null if nobody knows. */
  goal: ToldGoal;
  is_goal_guessed: boolean;
}

export interface ConsoleLane {
  id: number;
  attempt: number;
  writer: string;
  stream: string;
  kind: string;
  rank: number | null;
  host: string;
  lines: number;
  settled: number;
}

export interface ConsoleLine {
  number: number;
  time_ns: number;
  /** Its place among the lanes. */
  lane: number;
  line: number;
  text: string;
}

/** GET …/console and …/console/search */
export interface ConsoleAnswer {
  lanes: ConsoleLane[];
  total: number;
  items: ConsoleLine[];
  cursor: string | null;
}

/** GET …/objects */
export interface ObjectKey {
  key: string;
  types: string[];
  first_step: number;
  last_step: number;
}

/** GET …/objects/values and …/objects/nearest */
export interface LoggedValue {
  key: string;
  step: number;
  time_ns: number;
  attempt: number;
  type: string;
  value: unknown;
}

/** GET …/objects/steps */
export interface ObjectSteps {
  steps: Record<string, number[]>;
}

/** GET …/files */
export interface RunFile {
  path: string;
  size: number;
  sha256: string;
  mtime_ns: number | null;
  policy: string;
  uploaded_ns: number;
}

export interface ArtifactVersion {
  id: string;
  entity: string;
  project: string;
  name: string;
  type: string;
  number: number;
  digest: string;
  algorithm: string;
  size: number;
  num_files: number;
  aliases: string[];
  tags: string[];
  description: string;
  metadata: Record<string, unknown>;
  ttl_s: number | null;
  use_as: string | null;
  source: string | null;
  logged_by: string | null;
  step: number | null;
  created_ns: number;
  updated_ns: number;
  deleted_ns: number | null;
}

export interface ArtifactEntry {
  path: string;
  digest: string;
  size: number | null;
  ref: string | null;
  sha256: string | null;
}

/** GET /artifact-versions/{id}/runs */
export interface ArtifactUse {
  run: string;
  role: "logged" | "used";
  use_as: string | null;
  time_ns: number;
}

/** GET …/alerts */
export interface LoggedAlert {
  id: number;
  run: string;
  kind: string;
  rule: number | null;
  level: "INFO" | "WARN" | "ERROR";
  title: string;
  text: string;
  time_ns: number;
}
