// What was changed from one text to another, by lines or by words. Pure. The shortest script (Myers); texts that differ
// in too much are told as replaced, because then no script helps a reader.

export type PartKind = "same" | "add" | "remove";

export interface Part {
  readonly kind: PartKind;
  readonly text: string;
}

/** Edits beyond which two texts are told as different altogether. */
const MOST_EDITS = 2000;

/** Return parts of both texts by words, neighbours of a kind put together. */
export function wordDiff(before: string, after: string): Part[] {
  return joined(diff(words(before), words(after)), "");
}

/** Return the lines of both texts. */
export function lineDiff(before: string, after: string): Part[] {
  return diff(lines(before), lines(after));
}

/** Return lines with long unchanged stretches left out, and how many lines each gap stands for. */
export function withContext(parts: readonly Part[], context = 3): (Part | { readonly gap: number })[] {
  const isNear = new Array<boolean>(parts.length).fill(false);
  parts.forEach((part, i) => {
    if (part.kind === "same") return;
    for (let k = Math.max(0, i - context); k <= Math.min(parts.length - 1, i + context); k++)
      isNear[k] = true;
  });
  const shown: (Part | { gap: number })[] = [];
  // A gap of one line would take a line to tell of.
  parts.forEach((_, i) => {
    if (isNear[i - 1] !== false && isNear[i + 1] !== false) isNear[i] = true;
  });
  let gap = 0;
  parts.forEach((part, i) => {
    if (!isNear[i]) {
      gap += 1;
      return;
    }
    if (gap > 0) shown.push({ gap });
    gap = 0;
    shown.push(part);
  });
  if (gap > 0) shown.push({ gap });
  return shown;
}

function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
}

function lines(text: string): string[] {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all;
}

function diff(before: readonly string[], after: readonly string[]): Part[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1;
  const tell = (kind: PartKind, some: readonly string[]): Part[] => some.map((text) => ({ kind, text }));
  const a = before.slice(start, before.length - end);
  const b = after.slice(start, after.length - end);
  const middle = shortest(a, b) ?? [...tell("remove", a), ...tell("add", b)];
  return [
    ...tell("same", before.slice(0, start)),
    ...middle,
    ...tell("same", before.slice(before.length - end)),
  ];
}

/** Return the shortest script, null if it has too many edits. */
function shortest(a: readonly string[], b: readonly string[]): Part[] | null {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  let reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const trail: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trail.push(reach.slice());
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && at(reach, middle + k - 1) < at(reach, middle + k + 1));
      let x = isDown ? at(reach, middle + k + 1) : at(reach, middle + k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      reach[middle + k] = x;
      if (x >= a.length && y >= b.length) return backwards(a, b, trail, middle);
    }
    reach = reach.slice();
  }
  return null;
}

function backwards(a: readonly string[], b: readonly string[], trail: Int32Array[], middle: number): Part[] {
  const parts: Part[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reach = trail[edits] as Int32Array;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && at(reach, middle + k - 1) < at(reach, middle + k + 1));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = edits === 0 ? 0 : at(reach, middle + fromK);
    const fromY = edits === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      parts.push({ kind: "same", text: a[x] as string });
    }
    if (edits === 0) break;
    if (isDown) parts.push({ kind: "add", text: b[--y] as string });
    else parts.push({ kind: "remove", text: a[--x] as string });
  }
  return parts.reverse();
}

function at(values: Int32Array, index: number): number {
  return values[index] as number;
}

function joined(parts: readonly Part[], between: string): Part[] {
  const out: { kind: PartKind; text: string }[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (last?.kind === part.kind) last.text += between + part.text;
    else out.push({ ...part });
  }
  return out;
}
