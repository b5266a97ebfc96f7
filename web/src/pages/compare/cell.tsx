// One value in a table of differences: short ones as they are, long ones cut with a way to see all, texts with what was
// changed against the baseline marked in them.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ABSENT, type Cell, cellText } from "./diff-tree";
import { type Part, wordDiff } from "./text-diff";

/** Shorter texts are read faster than their difference; longer ones than this are cut. */
const SHORTEST_DIFF = 12;
const LONGEST_DIFF = 4000;
const CUT = 480;

export function CellView({ cell, base }: { cell: Cell; base?: Cell | undefined }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const text = cellText(cell);
  const parts = useMemo(() => partsOf(cell, base), [cell, base]);
  if (cell === ABSENT) return <span class="quiet diff-absent">not set</span>;
  const isLong = text.length > CUT || text.split("\n").length > 6;
  return (
    <div class={`diff-value mono${isLong && !isWhole ? " diff-cut" : ""}`}>
      <div class="diff-text">
        {parts === null
          ? text || <span class="quiet">empty text</span>
          : (isLong && !isWhole ? shortened(parts) : parts).map((part, i) => inline(part, i))}
      </div>
      {isLong && (
        <button type="button" class="diff-more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : `Show all ${text.length.toLocaleString("en-US")} characters`}
        </button>
      )}
    </div>
  );
}

function inline(part: Part, i: number): JSX.Element | string {
  if (part.kind === "same") return part.text;
  // Marked by lines too, not by colour alone.
  return part.kind === "add" ? <ins key={i}>{part.text}</ins> : <del key={i}>{part.text}</del>;
}

const NEAR = 60;

/** What is the same in both is cut to what lies near a change: that is what one looks for in a long text. */
export function shortened(parts: readonly Part[]): Part[] {
  return parts.map((part, i) => {
    if (part.kind !== "same" || part.text.length <= 2 * NEAR + 3) return part;
    const start = i === 0 ? "" : part.text.slice(0, NEAR);
    const end = i === parts.length - 1 ? "" : part.text.slice(-NEAR);
    return { ...part, text: `${start} … ${end}` };
  });
}

/** Return the words that were changed, null where the two are better read side by side. */
function partsOf(cell: Cell, base: Cell | undefined): Part[] | null {
  if (base === undefined || cell === ABSENT || base === ABSENT || cell === base) return null;
  const isText = (one: Cell): boolean => typeof one === "string" || Array.isArray(one);
  if (!isText(cell) || !isText(base)) return null;
  const [before, after] = [cellText(base), cellText(cell)];
  if (Math.min(before.length, after.length) < SHORTEST_DIFF) return null;
  if (Math.max(before.length, after.length) > LONGEST_DIFF) return null;
  const parts = wordDiff(before, after);
  const kept = parts.reduce((sum, part) => sum + (part.kind === "same" ? part.text.length : 0), 0);
  // With little in common, marks are noise.
  return kept < 0.3 * Math.max(before.length, after.length) ? null : parts;
}
