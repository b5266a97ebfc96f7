// What the page in the frame says to the one around it. It has no origin, so its words are checked like any other input.

export interface RunName {
  entity: string;
  project: string;
  run: string;
}

export type Said =
  | { kind: "run"; run: RunName }
  /** What is shown, and of how many results the page was made. */
  | { kind: "view"; view: string; systems: string; results: number };

const VIEW = /^[a-z]{1,40}$/;
/** Names of systems with commas between them, percent-encoded as in an address; "" for all. */
const SYSTEMS = /^[\w.!~*'()%,-]{0,4000}$/;

/** Return what a message says, or null if it is none of ours. */
export function said(message: unknown): Said | null {
  if (typeof message !== "object" || message === null || !("strobe" in message)) return null;
  if (message.strobe === "view" && "view" in message && typeof message.view === "string") {
    const { view } = message;
    const systems = "systems" in message ? message.systems : "";
    const results = "results" in message ? message.results : null;
    if (!VIEW.test(view) || typeof systems !== "string" || !SYSTEMS.test(systems)) return null;
    return isCount(results) ? { kind: "view", view, systems, results } : null;
  }
  if (message.strobe === "run" && "run" in message && Array.isArray(message.run)) {
    const [entity, project, run, ...more] = message.run as unknown[];
    if (isName(entity) && isName(project) && isName(run) && more.length === 0) {
      return { kind: "run", run: { entity, project, run } };
    }
  }
  return null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 128;
}
