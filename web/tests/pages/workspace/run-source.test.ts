// The list of runs before a server whose runs become more while it is read: what is shown is always a whole beginning of
// what there is, and goes on to its end.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RunSource, withNews } from "../../../src/pages/workspace/data/run-source";
import { runOf } from "./runs";

const QUESTION = { filter: "", sort: "-created_at", columns: [] };

/** Numbers of the server's runs, and answers that are held back. */
let numbers: number[] = [];
let asked: URLSearchParams[] = [];
let held: (() => void)[] | null = null;

/** The greatest number first; a cursor is the number before which to go on. */
function answer(query: URLSearchParams): Response {
  const limit = Math.min(1000, Number(query.get("limit")));
  const before = Number(query.get("cursor") ?? Number.POSITIVE_INFINITY);
  const rest = numbers.filter((number) => number < before).sort((a, b) => b - a);
  const page = rest.slice(0, limit);
  return Response.json({
    items: page.map((number) => runOf(`r${number}`)),
    cursor: rest.length > limit ? String(page.at(-1)) : null,
    total: numbers.length,
  });
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function shown(source: RunSource): string[] {
  return source.rows.value.map((run) => run.id);
}

function listed(): string[] {
  return [...numbers].sort((a, b) => b - a).map((number) => `r${number}`);
}

async function quiet(source: RunSource): Promise<void> {
  await vi.waitFor(() => expect(source.isLoading.value).toBe(false));
  await new Promise((done) => setTimeout(done, 5));
}

async function toTheEnd(source: RunSource): Promise<void> {
  while (source.hasMore.value) {
    source.more();
    await quiet(source);
  }
}

beforeEach(() => {
  numbers = [];
  asked = [];
  held = null;
  vi.stubGlobal("fetch", async (address: string, init?: { signal?: AbortSignal }) => {
    const query = new URL(address, "http://here").searchParams;
    asked.push(query);
    const found = answer(query); // as things are when it is asked
    if (held !== null) await new Promise<void>((done) => held?.push(done));
    init?.signal?.throwIfAborted();
    return found;
  });
});

afterEach(() => vi.unstubAllGlobals());

describe("RunSource", () => {
  it("has no gap when more runs came than the beginning holds", async () => {
    numbers = range(0, 22);
    const source = new RunSource("ann", "p");
    source.ask(QUESTION);
    await quiet(source);
    numbers = range(0, 229); // 207 newer ones: 7 are neither among the first 200 nor known
    await source.refresh();
    await toTheEnd(source);
    expect(shown(source)).toEqual(listed());
  });

  it("goes on behind what was the end", async () => {
    numbers = range(7, 229);
    const source = new RunSource("ann", "p");
    source.ask(QUESTION);
    await quiet(source);
    await toTheEnd(source);
    expect(shown(source)).toHaveLength(223);
    numbers = range(0, 229); // older ones, as an index takes them in
    await source.refresh();
    await toTheEnd(source);
    expect(shown(source)).toEqual(listed());
  });

  it("hears of runs that come while a page is under way", async () => {
    numbers = range(7, 229);
    const source = new RunSource("ann", "p");
    held = [];
    source.ask(QUESTION);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    numbers = range(0, 229);
    await source.refresh();
    const waiting = held;
    held = null;
    for (const go of waiting) go();
    await vi.waitFor(() => expect(source.total.value).toBe(230));
  });

  it("hears of them when a wish for more comes in between", async () => {
    numbers = range(7, 229);
    const source = new RunSource("ann", "p");
    source.ask(QUESTION);
    await quiet(source);
    numbers = range(0, 230);
    held = [];
    const fresh = source.refresh();
    await vi.waitFor(() => expect(held).toHaveLength(1));
    source.more();
    await vi.waitFor(() => expect(held).toHaveLength(2));
    const waiting = held;
    held = null;
    for (const go of waiting) go();
    await fresh;
    await vi.waitFor(() => expect(source.total.value).toBe(231));
    await toTheEnd(source);
    expect(shown(source)).toEqual(listed());
  });

  it("keeps a long list long, and asks for one page where that is enough", async () => {
    numbers = range(0, 2999);
    const source = new RunSource("ann", "p");
    source.ask(QUESTION);
    await quiet(source);
    await toTheEnd(source);
    asked = [];
    numbers = range(0, 3000);
    await source.refresh();
    expect(asked).toHaveLength(1);
    expect(shown(source)).toEqual(listed());
    numbers = range(-5, 3000);
    await source.refresh();
    await toTheEnd(source);
    expect(shown(source)).toEqual(listed());
  });
});

describe("news of a deleted run", () => {
  const news = {
    run: "ann/p/r1",
    version: 5,
    state: "finished" as const,
    changed_ns: 9,
    started_ns: 0,
    ended_ns: 0,
    num_rows: 0,
    stop_by: null,
    is_deleted: true,
  };

  it("take its row away", () => {
    expect(withNews(runOf("r1", { version: 4 }), news)).toBeNull();
    expect(withNews(runOf("r1", { version: 5 }), news)).toBeNull();
  });

  it("leave a row that was read after the deletion was undone", () => {
    const back = runOf("r1", { version: 6 });
    expect(withNews(back, news)).toBe(back);
  });
});
