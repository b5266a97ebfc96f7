// Short words about what was done, at the edge of the page; they go by themselves, errors stay until closed.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Button, IconButton } from "./button";
import { Icon } from "./icon";
import "./toast.css";

export interface Toast {
  id: number;
  tone: "good" | "bad" | "plain";
  text: string;
  /** Something to do about it, such as undo. */
  action?: { title: string; run: () => void } | undefined;
}

const STAYS_MS = 5000;
let count = 0;
const toasts = signal<readonly Toast[]>([]);

/** Say something; errors stay. */
export function say(text: string, options: { tone?: Toast["tone"]; action?: Toast["action"] } = {}): void {
  const toast: Toast = { id: ++count, tone: options.tone ?? "plain", text, action: options.action };
  toasts.value = [...toasts.value.slice(-3), toast];
  if (toast.tone !== "bad") setTimeout(() => close(toast.id), STAYS_MS);
}

/** Say what went wrong. */
export function sayError(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), { tone: "bad" });
}

function close(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast toast-${toast.tone}`}>
          {toast.tone !== "plain" && <Icon name={toast.tone === "good" ? "check" : "warning"} />}
          <span class="toast-text">{toast.text}</span>
          {toast.action && (
            <Button
              kind="quiet"
              onClick={() => {
                close(toast.id);
                toast.action?.run();
              }}
            >
              {toast.action.title}
            </Button>
          )}
          <IconButton icon="close" label="Close" onClick={() => close(toast.id)} />
        </div>
      ))}
    </div>
  );
}
