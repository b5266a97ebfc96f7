// Who may do what on this page, as the server would say; and what becomes of keys with time. Pure.

import type { Identity, Key } from "./documents";

/** Whether one runs the server, with a key that says so. */
export function isAdmin(identity: Identity): boolean {
  return identity.is_admin && identity.scope === "admin";
}

/** What one may change of an entity's projects: nothing, their words, or everything. */
export function mayChange(identity: Identity, entity: string): "nothing" | "words" | "all" {
  if (isAdmin(identity)) return "all";
  const role = Object.hasOwn(identity.entities, entity) ? identity.entities[entity] : undefined;
  if (role === "owner" && identity.scope === "admin") return "all";
  const isWriter = role === "owner" || role === "member" || identity.is_admin;
  return isWriter && (identity.scope === "write" || identity.scope === "admin") ? "words" : "nothing";
}

/** Whether one decides who is in a team. */
export function mayPlace(identity: Identity, team: string): boolean {
  return mayChange(identity, team) === "all";
}

export type KeyState = "live" | "expired" | "revoked";

export function keyState(key: Pick<Key, "expires_ns" | "revoked_ns">, nowMs: number): KeyState {
  if (key.revoked_ns !== null) return "revoked";
  return key.expires_ns !== null && key.expires_ns / 1e6 <= nowMs ? "expired" : "live";
}

export const LIFETIMES = [
  { value: "30", title: "30 days" },
  { value: "90", title: "90 days" },
  { value: "365", title: "1 year" },
  { value: "never", title: "No end" },
] as const;
export type Lifetime = (typeof LIFETIMES)[number]["value"];

/** Return the moment in ns; a whole second, so that a double holds it. */
export function endOf(lifetime: Lifetime, nowMs: number): number | null {
  return lifetime === "never" ? null : (Math.floor(nowMs / 1000) + Number(lifetime) * 86_400) * 1_000_000_000;
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/** Read an amount such as "50 GiB", "1.5g" or "" (no limit, null); undefined if it is none. */
export function readBytes(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(text);
  const unit = match ? UNITS[(match[2] ?? "").toLowerCase()] : undefined;
  return match && unit !== undefined ? Math.round(Number(match[1]) * unit) : undefined;
}

/** Read days from 1 on, "" for no limit (null); undefined if it is neither. */
export function readDays(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= 36_500 ? days : undefined;
}
