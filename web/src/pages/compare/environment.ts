// Where and with what runs ran, apart by what a person asks: the machine and the command, the code, the packages. The
// server tells it of at most a hundred runs at a time; what was read is kept until a run changes.

import { pathOf } from "../../runs/path";
import { send } from "../../server/client";
import type { RunItem } from "../../server/types";
import { nested } from "./diff-tree";

export interface Facts {
  readonly environment: Record<string, unknown>;
  readonly code: Record<string, unknown>;
  readonly packages: Record<string, unknown>;
  /** Changes that were not committed, as git's diff; "" if there are none. */
  readonly gitDiff: string;
}

const AT_ONCE = 100;
const known = new Map<string, { version: number; facts: Facts }>();

interface DiffAnswer {
  runs: string[];
  items: { key: string; values: unknown[]; present: boolean[] }[];
}

/** Return the facts of each run, in order. `onPart` hears how many have been read. */
export async function readFacts(
  runs: readonly RunItem[],
  abort: AbortSignal,
  onPart: (done: number) => void,
): Promise<Facts[]> {
  const old = runs.filter((run) => known.get(pathOf(run))?.version !== run.version);
  for (let i = 0; i < old.length; i += AT_ONCE) {
    const some = old.slice(i, i + AT_ONCE);
    await readSome(some, abort);
    onPart(runs.length - old.length + i + some.length);
  }
  return runs.map((run) => known.get(pathOf(run))?.facts ?? EMPTY);
}

const EMPTY: Facts = { environment: {}, code: {}, packages: {}, gitDiff: "" };

async function readSome(runs: readonly RunItem[], abort: AbortSignal): Promise<void> {
  const paths = runs.map(pathOf);
  // A comparison needs two: a single run is compared with itself.
  const asked = paths.length === 1 ? [...paths, ...paths] : paths;
  const body = { runs: asked, sections: ["environment"], everything: true };
  const answer = (await (await send("POST", "/diff", { body, waits: true, abort })).json()) as DiffAnswer;
  runs.forEach((run, i) => {
    const flat: Record<string, unknown> = {};
    for (const { key, values, present } of answer.items) if (present[i]) flat[key] = values[i];
    known.set(pathOf(run), { version: run.version, facts: factsOf(flat) });
  });
}

/** Sort the facts of a run by what they are about. */
export function factsOf(flat: Readonly<Record<string, unknown>>): Facts {
  const environment: Record<string, unknown> = {};
  const code: Record<string, unknown> = {};
  let packages: Record<string, unknown> = {};
  let gitDiff = "";
  for (const [key, value] of Object.entries(flat)) {
    if (key === "requirements") packages = packagesOf(value);
    else if (key === "git_diff") gitDiff = typeof value === "string" ? value : "";
    else if (key.startsWith("git_") || key === "program" || key.startsWith("code")) {
      code[key.replace(/^git_/, "")] = value;
    } else environment[key] = value;
  }
  return { environment: nested(environment), code: nested(code), packages, gitDiff };
}

/** "name==version" lines, or a map of them. */
export function packagesOf(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  const lines = Array.isArray(value) ? value.map(String) : String(value ?? "").split("\n");
  const found: Record<string, unknown> = {};
  for (const line of lines) {
    const match = /^\s*([^\s=@<>!~;]+)\s*(?:===?|@)\s*(.+?)\s*$/.exec(line);
    if (match) found[match[1] as string] = match[2];
    else if (line.trim()) found[line.trim()] = "";
  }
  return found;
}
