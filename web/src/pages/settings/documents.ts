// The JSON documents that only this page reads.

import type { Paged, Scope } from "../../server/types";

export type Role = "viewer" | "member" | "owner";
export const ROLES: readonly { value: Role; title: string; means: string }[] = [
  { value: "viewer", title: "Viewer", means: "reads its private projects" },
  { value: "member", title: "Member", means: "writes to its projects, too" },
  { value: "owner", title: "Owner", means: "decides about projects and members, too" },
];
export const SCOPES: readonly { value: Scope; title: string; means: string }[] = [
  { value: "read", title: "Read", means: "reads what its user may read" },
  { value: "write", title: "Write", means: "sends runs, too" },
  { value: "admin", title: "Admin", means: "decides about projects, too; for admins about everything" },
];

/** GET /api/v1/session */
export interface Identity {
  user: string | null;
  email: string;
  entity: string | null;
  entities: Record<string, Role>;
  is_admin: boolean;
  scope: Scope | null;
  /** The public part of the key of this session. */
  key: string;
  expires_ns: number | null;
}

/** GET /api/v1/keys */
export interface Key {
  id: string;
  account: string;
  label: string;
  scope: Scope;
  created_ns: number;
  expires_ns: number | null;
  revoked_ns: number | null;
  used_ns: number | null;
}

/** POST /api/v1/keys */
export interface NewKey {
  key: string;
  about: Key;
}

/** GET /api/v1/users */
export interface Account {
  name: string;
  email: string;
  is_admin: boolean;
  default_entity: string;
  created_ns: number;
  disabled_ns: number | null;
}

export interface Member {
  team: string;
  account: string;
  role: Role;
}

/** GET /api/v1/teams */
export interface Team {
  name: string;
  members: Member[];
}

export interface ProjectUsage {
  entity: string;
  name: string;
  num_runs: number;
  used_bytes: number;
  quota_bytes: number | null;
}

/** GET /api/v1/usage */
export interface Usage extends Paged<ProjectUsage> {
  database_bytes: number | null;
  blob_bytes: number | null;
}
