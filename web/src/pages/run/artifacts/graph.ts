// What came from what around a run, read from the server outwards, one ring of runs and versions at a time.

import { get } from "../../../server/client";
import type { Paged } from "../../../server/types";
import type { ArtifactUse, ArtifactVersion } from "../documents";
import type { LineageEdge, LineageNode } from "./lineage";

export interface Graph {
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly LineageEdge[];
  readonly versions: ReadonlyMap<string, ArtifactVersion>;
  /** Whether something lies beyond what was read. */
  readonly hasMore: boolean;
  /** How many neighbours were left out, because a node had more than `most`. */
  readonly leftOut: number;
}

export const runNode = (path: string): string => `run:${path}`;
export const versionNode = (id: string): string => `version:${id}`;

/** Neighbours that are shown of one node unless more are asked for: a dataset that all runs use would fill the page. */
export const MOST = 30;

/** Read the versions that a run used and logged, what made them and what uses them, `depth` runs far each way. */
export async function readGraph(
  path: string,
  depth: number,
  most: number,
  abort: AbortSignal,
): Promise<Graph> {
  const nodes = new Map<string, LineageNode>();
  const edges = new Map<string, LineageEdge>();
  const versions = new Map<string, ArtifactVersion>();
  let hasMore = false;
  let leftOut = 0;
  const join = (from: string, to: string): void => {
    edges.set(`${from} ${to}`, { from, to });
  };
  const addRun = (run: string, column: number): boolean => {
    const id = runNode(run);
    if (nodes.has(id)) return false;
    const name = run.slice(run.lastIndexOf("/") + 1);
    nodes.set(id, { id, kind: "run", label: name, note: column === 0 ? "this run" : "run", column });
    return true;
  };
  const addVersion = (version: ArtifactVersion, column: number): boolean => {
    const id = versionNode(version.id);
    if (nodes.has(id)) return false;
    versions.set(version.id, version);
    const label = `${version.name}:v${version.number}`;
    nodes.set(id, { id, kind: "version", label, note: version.type, column });
    return true;
  };
  addRun(path, 0);
  const walk = async (direction: 1 | -1): Promise<void> => {
    let runs = [path];
    for (let ring = 0; ring <= depth && runs.length > 0; ring++) {
      const column = direction * (2 * ring + 1);
      const found = await Promise.all(
        runs.map(async (run) => ({
          run,
          versions: await versionsOf(run, direction > 0 ? "logged" : "used", abort),
        })),
      );
      const next: string[] = [];
      for (const { run, versions: some } of found) {
        if (ring < depth) leftOut += Math.max(0, some.length - most);
        for (const version of some.slice(0, most)) {
          if (ring === depth) {
            hasMore = true;
            continue;
          }
          addVersion(version, column);
          const [from, to] = [runNode(run), versionNode(version.id)];
          if (direction > 0) join(from, to);
          else join(to, from);
          const others = await runsOf(version, direction, abort);
          leftOut += Math.max(0, others.length - most);
          for (const other of others.slice(0, most)) {
            if (addRun(other, direction * (2 * ring + 2))) next.push(other);
            if (direction > 0) join(versionNode(version.id), runNode(other));
            else join(runNode(other), versionNode(version.id));
          }
        }
      }
      runs = next;
    }
  };
  await walk(-1);
  await walk(1);
  return { nodes: [...nodes.values()], edges: [...edges.values()], versions, hasMore, leftOut };
}

async function versionsOf(
  run: string,
  role: "logged" | "used",
  abort: AbortSignal,
): Promise<ArtifactVersion[]> {
  const parts = run.split("/").map(encodeURIComponent).join("/");
  return (await get<Paged<ArtifactVersion>>(`/runs/${parts}/artifacts`, { role }, abort)).items;
}

async function runsOf(version: ArtifactVersion, direction: 1 | -1, abort: AbortSignal): Promise<string[]> {
  if (direction < 0) return version.logged_by === null ? [] : [version.logged_by];
  const { items } = await get<Paged<ArtifactUse>>(`/artifact-versions/${version.id}/runs`, {}, abort);
  return items.filter((use) => use.role === "used").map((use) => use.run);
}
