import { afterEach, describe, expect, it, vi } from "vitest";
import {
  get,
  lostSince,
  needsSignIn,
  post,
  returns,
  ServerLost,
  ServerProblem,
} from "../../src/server/client";

/** Answer requests one after the other; null: nobody is there. */
function answering(...answers: (Response | null)[]): ReturnType<typeof vi.fn> {
  const asked = vi.fn(async () => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (!answer) throw new TypeError("fetch failed");
    return answer.clone();
  });
  vi.stubGlobal("fetch", asked);
  return asked;
}

const fine = Response.json({ items: [] });
const busy = new Response("{}", { status: 503, headers: { "Retry-After": "1" } });
const unknown = new Response(
  JSON.stringify({
    type: "urn:strobe:problem:unauthenticated",
    title: "Not signed in",
    status: 401,
    detail: "sign in",
  }),
  { status: 401, headers: { "Content-Type": "application/problem+json" } },
);

describe("asking the server", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
    lostSince.value = null;
    needsSignIn.value = false;
  });

  it("tells problems in the server's words, and that a key is wanted", async () => {
    answering(unknown);
    const problem = await get("/projects").catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(ServerProblem);
    expect(problem).toMatchObject({
      status: 401,
      title: "Not signed in",
      message: "sign in",
      kind: "unauthenticated",
    });
    expect(needsSignIn.value).toBe(true);
  });

  it("says so where something else than Strobe answers", async () => {
    answering(new Response("<html>", { status: 404 }));
    await expect(get("/projects")).rejects.toThrow("Something answered with status 404");
  });

  it("waits with reads until a lost server is back, and says that it was lost", async () => {
    vi.useFakeTimers();
    answering(null, null, fine);
    const before = returns.value;
    const answer = get("/projects");
    await vi.advanceTimersByTimeAsync(100);
    expect(lostSince.value).not.toBeNull();
    await vi.advanceTimersByTimeAsync(20_000);
    await expect(answer).resolves.toEqual({ items: [] });
    expect([lostSince.value, returns.value]).toEqual([null, before + 1]);
  });

  it("does not make a change later than it was wanted", async () => {
    vi.useFakeTimers();
    const asked = answering(null);
    await expect(post("/projects", {})).rejects.toBeInstanceOf(ServerLost);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it("comes back to a busy server when it says so, but not for ever", async () => {
    vi.useFakeTimers();
    const asked = answering(busy, busy, fine);
    const answer = get("/projects");
    await vi.advanceTimersByTimeAsync(2100);
    await expect(answer).resolves.toEqual({ items: [] });
    expect(asked).toHaveBeenCalledTimes(3);
    const always = answering(busy);
    const never = get("/projects").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await never).toMatchObject({ status: 503 });
    expect(always).toHaveBeenCalledTimes(4);
  });

  it("says with every change that it comes from our own page", async () => {
    const asked = answering(fine);
    await post("/projects", { name: "x" });
    const sent = asked.mock.calls[0]?.[1] as RequestInit;
    expect(sent.headers).toMatchObject({ "X-Strobe-CSRF": "1", "Content-Type": "application/json" });
  });
});
