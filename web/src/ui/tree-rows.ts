// Nested maps as rows of a tree. Pure.

export interface Branch {
  name: string;
  /** Its full name: names joined with dots. */
  path: string;
  /** A leaf's value as text. */
  text: string;
  value: unknown;
  children: Branch[] | null;
}

export interface TreeRow {
  branch: Branch;
  depth: number;
  isOpen: boolean;
}

/** Return the branches of a map; lists are leaves, because their places are no names. */
export function branchesOf(map: Readonly<Record<string, unknown>>, prefix = ""): Branch[] {
  return Object.keys(map)
    .sort((left, right) => left.localeCompare(right, "en", { numeric: true }))
    .map((name) => {
      const value = map[name];
      const path = prefix + name;
      const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
      const children = isMap ? branchesOf(value as Record<string, unknown>, `${path}.`) : null;
      return { name, path, value, text: textOf(value), children: children?.length ? children : null };
    });
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Return the branches whose path or value contains the text, with what lies above and below them. */
export function matching(branches: readonly Branch[], text: string): Branch[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [...branches];
  const found: Branch[] = [];
  for (const branch of branches) {
    if (branch.path.toLowerCase().includes(wanted)) found.push(branch);
    else if (branch.children) {
      const children = matching(branch.children, text);
      if (children.length) found.push({ ...branch, children });
    } else if (branch.text.toLowerCase().includes(wanted)) found.push(branch);
  }
  return found;
}

/** Return the rows that are shown, without what lies in closed branches. */
export function rowsOf(branches: readonly Branch[], closed: ReadonlySet<string>, depth = 0): TreeRow[] {
  return branches.flatMap((branch) => {
    const isOpen = branch.children !== null && !closed.has(branch.path);
    const below = isOpen ? rowsOf(branch.children ?? [], closed, depth + 1) : [];
    return [{ branch, depth, isOpen }, ...below];
  });
}
