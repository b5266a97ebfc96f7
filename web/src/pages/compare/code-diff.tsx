// Changes that were not committed when a run began: who had the same, and the difference between two runs' differences.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { fileName, save } from "../../chart/export/save";
import { count, counted } from "../../series/format";
import { Button } from "../../ui/button";
import { Select } from "../../ui/field";
import { useComparison } from "./comparison";
import { valuesOf } from "./diff-tree";
import { Scroller } from "./scroller";
import { lineDiff, type Part, withContext } from "./text-diff";

const MANY_LINES = 400;

export function CodeDiff({ diffs }: { diffs: readonly string[] }): JSX.Element | null {
  const { state, change, runs, base, label } = useComparison();
  const [isWhole, setWhole] = useState(false);
  const groups = useMemo(() => valuesOf(diffs), [diffs]);
  const baseDiff = diffs[runs.indexOf(base)] ?? "";
  const others = runs.filter((run, i) => run !== base && diffs[i] !== baseDiff);
  const other = others.find((run) => run.id === state.against) ?? others[0];
  const parts = useMemo(
    () => (other === undefined ? [] : lineDiff(baseDiff, diffs[runs.indexOf(other)] ?? "")),
    [baseDiff, diffs, other, runs],
  );
  if (groups.every((group) => group.cell === "")) {
    return <p class="quiet diff-code-note">No run had changes that were not committed.</p>;
  }
  const shown = withContext(parts);
  const some = isWhole ? shown : shown.slice(0, MANY_LINES);
  return (
    <div class="diff-code">
      <h3>Changes that were not committed</h3>
      <ul class="diff-code-groups">
        {groups.map((group) => {
          const names = group.runs.map((i) => (runs[i] ? label(runs[i]) : ""));
          const text = String(group.cell);
          const lines = text === "" ? 0 : text.split("\n").length;
          return (
            <li key={text}>
              {text === "" ? "No changes" : counted(lines, "line")}
              <span class="quiet">
                {" "}
                in {names.slice(0, 4).join(", ")}
                {names.length > 4 && ` and ${count(names.length - 4)} more`}
              </span>
            </li>
          );
        })}
      </ul>
      {other === undefined ? (
        <p class="quiet diff-code-note">All runs had the same changes.</p>
      ) : (
        <>
          <div class="diff-code-head">
            <Select
              label={`${label(base)} against`}
              isLabelShown
              value={other.id}
              options={others.map((run) => ({ value: run.id, title: label(run) }))}
              onChange={(id) => change({ against: id })}
            />
            <Button
              kind="quiet"
              icon="download"
              onClick={() =>
                save(
                  new Blob([parts.map((part) => SIGNS[part.kind] + part.text).join("\n")], {
                    type: "text/plain",
                  }),
                  `${fileName(`${label(base)}-${label(other)}`)}.diff`,
                )
              }
            >
              Save
            </Button>
          </div>
          <Scroller label="Difference of the changes">
            <pre class="compare-lines">
              {some.map((part, i) => (
                <Line key={i} part={part} />
              ))}
            </pre>
          </Scroller>
          {some.length < shown.length && (
            <p class="compare-note">
              Showing {count(some.length)} of {count(shown.length)} lines.{" "}
              <Button onClick={() => setWhole(true)}>Show all</Button>
            </p>
          )}
        </>
      )}
    </div>
  );
}

const SIGNS = { add: "+ ", remove: "- ", same: "  " } as const;

function Line({ part }: { part: Part | { readonly gap: number } }): JSX.Element {
  if ("gap" in part)
    return <span class="compare-line compare-line-gap">{counted(part.gap, "line")} the same in both</span>;
  return (
    <span class={`compare-line compare-line-${part.kind}`}>
      <span aria-hidden="true">{SIGNS[part.kind]}</span>
      {part.kind !== "same" && <span class="unseen">{part.kind === "add" ? "added: " : "removed: "}</span>}
      {part.text || " "}
    </span>
  );
}
