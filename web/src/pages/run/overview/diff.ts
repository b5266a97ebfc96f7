// A unified diff (git's) as files and numbered lines. Pure; what it does not know stays a line of text.

export type DiffKind = "add" | "remove" | "same" | "hunk" | "note";

export interface DiffLine {
  readonly kind: DiffKind;
  readonly text: string;
  /** Line numbers, null where there is none on that side. */
  readonly before: number | null;
  readonly after: number | null;
}

export interface DiffFile {
  readonly path: string;
  /** Where it was before, if it was moved. */
  readonly from: string | null;
  readonly change: "changed" | "added" | "deleted" | "renamed" | "binary";
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly DiffLine[];
}

interface Draft {
  path: string;
  from: string | null;
  change: DiffFile["change"];
  lines: DiffLine[];
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Return the files of a diff. */
export function parseDiff(text: string): DiffFile[] {
  const files: DiffFile[] = [];
  let draft: Draft | null = null;
  let before = 0;
  let after = 0;
  // What is left of the hunk on each side: a removed line may begin with "--" and look like a header.
  let leftBefore = 0;
  let leftAfter = 0;
  const close = (): void => {
    if (draft !== null) files.push(finished(draft));
    draft = null;
  };
  const open = (path: string): Draft => ({ path, from: null, change: "changed", lines: [] });
  const rows = text.split("\n");
  if (rows.at(-1) === "") rows.pop();
  for (const row of rows) {
    const isInside = leftBefore > 0 || leftAfter > 0;
    if (row.startsWith("diff --git ")) {
      leftBefore = leftAfter = 0;
      close();
      draft = open(headerPath(row));
      continue;
    }
    if (
      !isInside &&
      row.startsWith("--- ") &&
      (draft === null || (draft as Draft).lines.some((line) => line.kind === "hunk"))
    ) {
      close();
      draft = open(sidePath(row.slice(4)) ?? "");
      continue;
    }
    if (draft === null) {
      if (row.trim() === "") continue;
      draft = open("");
    }
    const file: Draft = draft;
    const hunk = isInside ? null : HUNK.exec(row);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      leftBefore = Number(hunk[2] ?? 1);
      leftAfter = Number(hunk[4] ?? 1);
      file.lines.push({ kind: "hunk", text: row, before: null, after: null });
    } else if (isInside && row.startsWith("+")) {
      file.lines.push({ kind: "add", text: row.slice(1), before: null, after: after++ });
      leftAfter--;
    } else if (isInside && row.startsWith("-")) {
      file.lines.push({ kind: "remove", text: row.slice(1), before: before++, after: null });
      leftBefore--;
    } else if (isInside && (row.startsWith(" ") || row === "")) {
      file.lines.push({ kind: "same", text: row.slice(1), before: before++, after: after++ });
      leftBefore--;
      leftAfter--;
    } else if (row.startsWith("\\")) {
      file.lines.push({ kind: "note", text: row.slice(2), before: null, after: null });
    } else {
      if (isInside) leftBefore = leftAfter = 0; // it was cut
      takeHeader(file, row);
    }
  }
  close();
  return files;
}

function takeHeader(file: Draft, row: string): void {
  if (row.startsWith("new file")) file.change = "added";
  else if (row.startsWith("deleted file")) file.change = "deleted";
  else if (row.startsWith("rename from ")) {
    file.change = "renamed";
    file.from = row.slice(12);
  } else if (row.startsWith("rename to ")) file.path = row.slice(10);
  else if (row.startsWith("Binary files") || row.startsWith("GIT binary patch")) file.change = "binary";
  else if (row.startsWith("+++ ")) file.path = sidePath(row.slice(4)) ?? file.path;
  else if (!/^(index |--- |old mode|new mode|similarity|dissimilarity|copy )/.test(row))
    file.lines.push({ kind: "note", text: row, before: null, after: null });
}

function finished({ path, from, change, lines }: Draft): DiffFile {
  const added = lines.filter((line) => line.kind === "add").length;
  const removed = lines.filter((line) => line.kind === "remove").length;
  return { path: path || "(no name)", from, change, added, removed, lines };
}

/** "a/x b/x" of the first line: both sides are the same unless a later line says otherwise. */
function headerPath(row: string): string {
  const rest = row.slice("diff --git ".length);
  const middle = rest.indexOf(" b/");
  return middle < 0 ? rest : rest.slice(middle + 3);
}

function sidePath(side: string): string | null {
  const [path = ""] = side.split("\t");
  if (path === "/dev/null") return null;
  return path.replace(/^[ab]\//, "");
}
