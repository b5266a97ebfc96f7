// What is said instead of, or about, content: nothing here yet, something failed, a short fact, a copied text.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ServerProblem } from "../server/client";
import { Button, IconButton } from "./button";
import { Icon, type IconName } from "./icon";
import "./note.css";

export interface EmptyStateProps {
  title: string;
  icon?: IconName;
  /** What to do about it. */
  children?: ComponentChildren;
}

export function EmptyState({ title, icon, children }: EmptyStateProps): JSX.Element {
  return (
    <div class="empty">
      {icon && (
        <span class="empty-icon">
          <Icon name={icon} size={20} />
        </span>
      )}
      <h2>{title}</h2>
      {children && <div class="empty-body">{children}</div>}
    </div>
  );
}

/** What went wrong, in the server's own words, and a way to try again. */
export function ErrorNote({ error, onRetry }: { error: Error; onRetry?: () => void }): JSX.Element {
  const problem = error instanceof ServerProblem ? error : null;
  return (
    <div class="error-note" role="alert">
      <Icon name="warning" />
      <div class="error-text">
        <strong>{problem?.title ?? "That did not work"}</strong>
        <p>{error.message}</p>
        {problem?.request && <p class="quiet">Request {problem.request}</p>}
      </div>
      {onRetry && (
        <Button icon="reload" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

export function Badge({
  tone = "plain",
  title,
  children,
}: {
  tone?: Tone;
  title?: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

/** A dot in the colour of a run's state, with its name for screen readers unless that stands beside it. */
export function StateDot({ state, isNamed = false }: { state: string; isNamed?: boolean }): JSX.Element {
  return (
    <span class="state" title={state}>
      <span class={`state-dot state-${state}`} aria-hidden="true" />
      <span class={isNamed ? "state-name" : "unseen"}>{state}</span>
    </span>
  );
}

const COPIED_MS = 1500;

/** Copies a text; says that it did. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  text: string | (() => string);
  label?: string;
}): JSX.Element {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <>
      <IconButton
        icon={isDone ? "check" : "copy"}
        label={label}
        onClick={() => void copyText(typeof text === "string" ? text : text()).then(() => setDone(true))}
      />
      <span class="unseen" role="status">
        {isDone ? "Copied" : ""}
      </span>
    </>
  );
}

/** Put a text on the clipboard; also where the page came over plain HTTP, which has no clipboard API. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
