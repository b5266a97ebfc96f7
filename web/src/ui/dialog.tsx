// A window in front of the page: the browser's own modal dialog, which keeps the focus and closes with Escape.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { IconButton } from "./button";
import "./dialog.css";

export interface DialogProps {
  title: string;
  onClose: () => void;
  /** Without the bar that shows the title: it is still told to screen readers. */
  isBare?: boolean;
  class?: string;
  /** Buttons at the end. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Shown as long as it is rendered. */
export function Dialog({
  title,
  onClose,
  isBare = false,
  actions,
  children,
  ...rest
}: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the key for it
    <dialog
      ref={dialog}
      class={`dialog ${rest.class ?? ""}`}
      aria-labelledby={isBare ? undefined : heading}
      aria-label={isBare ? title : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-inside">
        {!isBare && (
          <header class="dialog-head">
            <h2 id={heading}>{title}</h2>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
        )}
        {children}
        {actions && <footer class="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}
