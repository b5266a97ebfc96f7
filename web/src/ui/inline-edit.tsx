// A text that is changed where it stands: Enter or leaving it keeps the change, Escape does not.

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./inline-edit.css";

export interface InlineEditProps {
  readonly label: string;
  readonly value: string;
  readonly onDone: (value: string) => void;
  readonly onCancel: () => void;
}

export function InlineEdit({ label, value, onDone, onCancel }: InlineEditProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const end = (isKept: boolean): void => {
    if (isOver.current) return;
    isOver.current = true;
    const text = input.current?.value ?? value;
    if (isKept && text !== value) onDone(text);
    else onCancel();
  };
  return (
    <input
      ref={input}
      class="inline-edit"
      type="text"
      aria-label={label}
      defaultValue={value}
      onClick={(event) => event.stopPropagation()}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(true);
        else if (event.key === "Escape") end(false);
      }}
    />
  );
}
