// How to run it again, as lines for a shell. Pure.

export interface Reproduction {
  readonly lines: readonly string[];
  /** What the lines cannot bring back. */
  readonly warnings: readonly string[];
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Return the commands that run it again, null where the command is not known. */
export function reproductionOf(metadata: Readonly<Record<string, unknown>>): Reproduction | null {
  const command = text(metadata.command);
  if (!command) return null;
  const lines: string[] = [];
  const warnings: string[] = [];
  const commit = text(metadata.git_commit);
  const root = text(metadata.git_root);
  const cwd = text(metadata.cwd);
  const remote = text(metadata.git_remote);
  if (commit && remote) {
    lines.push(`git clone ${quoted(remote)} again && cd again`, `git checkout ${commit}`);
    if (metadata.git_dirty === true) lines.push("git apply run.diff  # the changes below, saved as run.diff");
    const below = root && cwd.startsWith(`${root}/`) ? cwd.slice(root.length + 1) : "";
    if (below) lines.push(`cd ${quoted(below)}`);
  } else {
    if (cwd) lines.push(`cd ${quoted(cwd)}`);
    if (commit) lines.push(`git checkout ${commit}`);
    if (commit && metadata.git_dirty === true)
      lines.push("git apply run.diff  # the changes below, saved as run.diff");
  }
  const untracked = Number(metadata.git_untracked_count ?? 0);
  if (untracked > 0)
    warnings.push(`${untracked} files that git does not track were there; they are not kept.`);
  if (metadata.git_diff_cut === true) warnings.push("The diff was longer than what is kept of it.");
  if (command.includes("[redacted]")) warnings.push("A secret was cut out of the command; put it back in.");
  const python = text(metadata.python);
  if (python) lines.push(`# python ${python}`);
  lines.push(command);
  return { lines, warnings };
}

/** Quote for a POSIX shell, where that is needed. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
