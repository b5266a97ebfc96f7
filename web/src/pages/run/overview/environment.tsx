// Where it ran: machine, Python, packages. What the code card shows is left out here.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytes, count } from "../../../series/format";
import { TextField } from "../../../ui/field";
import { Badge, CopyButton } from "../../../ui/note";
import { Tree } from "../../../ui/tree";
import { type Branch, branchesOf } from "../../../ui/tree-rows";
import { SCROLLS } from "../scrolls";
import type { Metadata } from "./code";

const ELSEWHERE = new Set(["command", "requirements", "problems", "git_diff", "git_untracked", "args"]);

export function Environment({ metadata }: { metadata: Metadata }): JSX.Element | null {
  const branches = useMemo(() => {
    const facts = Object.entries(metadata).filter(([name]) => !ELSEWHERE.has(name));
    return branchesOf(Object.fromEntries(facts));
  }, [metadata]);
  const problems = Array.isArray(metadata.problems) ? metadata.problems.map(String) : [];
  if (branches.length === 0) return null;
  return (
    <section class="card" aria-label="Environment">
      <div class="card-head">
        <h2>Environment</h2>
      </div>
      <div class="card-body">
        {problems.map((problem) => (
          <p key={problem}>
            <Badge tone="warn">not found out</Badge> {problem}
          </p>
        ))}
        <Tree label="environment" branches={branches} leaf={fact} />
      </div>
    </section>
  );
}

/** Sizes are told as people read them. */
function fact(branch: Branch): string {
  if (branch.name.endsWith("_bytes") && typeof branch.value === "number") return bytes(branch.value);
  return branch.text;
}

export function Packages({ metadata }: { metadata: Metadata }): JSX.Element | null {
  const [search, setSearch] = useState("");
  const all = useMemo(
    () => (Array.isArray(metadata.requirements) ? metadata.requirements.map(String) : []),
    [metadata],
  );
  if (all.length === 0) return null;
  const wanted = search.trim().toLowerCase();
  const found = all.filter((one) => one.toLowerCase().includes(wanted));
  return (
    <section class="card" aria-label="Packages">
      <div class="card-head">
        <h2>Packages</h2>
        <span class="quiet">{count(all.length)}</span>
        <div class="card-end">
          <CopyButton text={() => all.join("\n")} label="Copy as requirements.txt" />
        </div>
      </div>
      <div class="card-body">
        <TextField
          type="search"
          icon="search"
          label="Search packages"
          placeholder="Search packages"
          value={search}
          onInput={setSearch}
        />
        <ul class="packages" {...SCROLLS} aria-label="Packages">
          {found.map((one) => {
            const [name = one, version = ""] = one.split("==");
            return (
              <li key={one}>
                <span class="cut">{name}</span>
                <span class="mono quiet">{version}</span>
              </li>
            );
          })}
        </ul>
        {found.length === 0 && <p class="quiet">No package is called “{search}”.</p>}
      </div>
    </section>
  );
}
