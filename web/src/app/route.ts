// URL path <-> Page. Pure. An entity that is called like a page of ours ("settings") is written with a tilde before it.

export type Page =
  | { name: "projects" }
  | { name: "workspace"; entity: string; project: string }
  | { name: "run"; entity: string; project: string; run: string; tab: string }
  | { name: "compare"; entity: string; project: string }
  | { name: "view"; entity: string; project: string; view: string }
  | { name: "settings"; tab: string }
  | { name: "benchmarks" }
  | { name: "signin" }
  | { name: "missing"; path: string };

const RESERVED = /^(settings|signin|benchmarks|api|assets|healthz|readyz|metrics|~.*)$/;

/** Return the page that a path names; tabs are "" unless given. */
export function pageOf(path: string): Page {
  const missing: Page = { name: "missing", path };
  const parts: string[] = [];
  for (const part of path.split("/").filter(Boolean)) {
    const text = decoded(part);
    if (text === null) return missing;
    parts.push(text);
  }
  const [first, second, third, fourth, fifth] = parts;
  if (first === undefined) return { name: "projects" };
  if (first === "signin" && parts.length === 1) return { name: "signin" };
  if (first === "benchmarks" && parts.length === 1) return { name: "benchmarks" };
  if (first === "settings" && parts.length <= 2) return { name: "settings", tab: second ?? "" };
  if (second === undefined) return missing;
  const entity = first.startsWith("~") ? first.slice(1) : first;
  const at = { entity, project: second };
  if (third === undefined) return { name: "workspace", ...at };
  if (third === "compare" && parts.length === 3) return { name: "compare", ...at };
  if (third === "views" && fourth !== undefined && parts.length === 4)
    return { name: "view", ...at, view: fourth };
  if (third === "runs" && fourth !== undefined && parts.length <= 5) {
    return { name: "run", ...at, run: fourth, tab: fifth ?? "" };
  }
  return missing;
}

/** Return the path of a page. */
export function pathOf(page: Page): string {
  switch (page.name) {
    case "projects":
      return "/";
    case "signin":
      return "/signin";
    case "benchmarks":
      return "/benchmarks";
    case "settings":
      return joined(["settings", page.tab]);
    case "workspace":
      return joined(project(page));
    case "compare":
      return joined([...project(page), "compare"]);
    case "view":
      return joined([...project(page), "views", page.view]);
    case "run":
      return joined([...project(page), "runs", page.run, page.tab]);
    case "missing":
      return page.path;
  }
}

function project(at: { entity: string; project: string }): string[] {
  return [RESERVED.test(at.entity) ? `~${at.entity}` : at.entity, at.project];
}

function joined(parts: readonly string[]): string {
  return `/${parts.filter(Boolean).map(encodeURIComponent).join("/")}`;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
