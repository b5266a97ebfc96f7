// Who is there: what the server says of itself and of whoever asks.

import { signal } from "@preact/signals";
import { forgetAnswers } from "../server/answer";
import { get, needsSignIn, post } from "../server/client";
import type { Scope, ServerFacts, Session } from "../server/types";

/** What the server is, and who is signed in; null until it has said so. */
export const server = signal<ServerFacts | null>(null);

export async function readServer(): Promise<void> {
  server.value = await get<ServerFacts>("/server");
}

/** Whether the user may do things of this kind: everything on one's own machine. */
export function may(scope: Scope): boolean {
  const facts = server.value;
  return facts !== null && (!facts.auth || facts.scopes.includes(scope));
}

export async function signIn(key: string): Promise<void> {
  await post<Session>("/login", { key });
  needsSignIn.value = false;
  forgetAnswers();
  await readServer();
}

export async function signOut(): Promise<void> {
  await post<void>("/logout");
  forgetAnswers();
  await readServer();
}
