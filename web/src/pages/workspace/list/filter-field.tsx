// The filter as text, completed while it is typed: fields, operators, and the values that runs have.

import type { JSX, RefObject } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { complete, type KnownField } from "../../../filter/complete";
import { useAnswer } from "../../../server/answer";
import { place } from "../../../server/client";
import { IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { useSettled } from "../../../ui/settled";
import { useWorkspace } from "../workspace";
import { useFields } from "./use-fields";
import "./filter-field.css";

const SHOWN = 8;
const BEGUN = /(^|[\s(!])((config|summary|metadata)(\.\S*)?|(min|max|mean|first|last)(\([^\s)]*\)?)?)$/;
/** Metrics whose least and greatest value are offered. */
const FIGURED = 200;

export function FilterField({ inputRef }: { inputRef: RefObject<HTMLInputElement> }): JSX.Element {
  const workspace = useWorkspace();
  const { filter } = workspace.view.value.runs;
  const [text, setText] = useState(filter);
  const [caret, setCaret] = useState(filter.length);
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const id = useId();
  const sent = useRef(filter);
  // Back, forward and saved views change the filter from outside.
  useEffect(() => {
    if (filter === sent.current) return;
    sent.current = filter;
    setText(filter);
  }, [filter]);
  const settled = useSettled(text, 250);
  useEffect(() => {
    // A field that has just been begun would be looked for among the names.
    if (settled === sent.current || settled !== text || BEGUN.test(settled)) return;
    sent.current = settled;
    workspace.changeRuns({ filter: settled }, { replace: true });
  }, [settled, text, workspace]);

  const completion = useCompletion(text, caret, isOpen);
  const suggestions = isOpen ? completion.suggestions.slice(0, SHOWN) : [];
  const left = completion.suggestions.length - suggestions.length + completion.left;
  const problem = text === filter ? workspace.filterProblem.value : null;

  const apply = (value: string): void => {
    sent.current = value;
    setText(value);
    workspace.changeRuns({ filter: value });
  };
  const take = (index: number): void => {
    const chosen = suggestions[index];
    if (!chosen) return;
    const before = text.slice(0, completion.from) + chosen.text;
    const next = `${before} ${text.slice(completion.to).trimStart()}`;
    setText(next);
    setCaret(before.length + 1);
    setAt(-1);
    // At once, not with the next frame: whoever types on meanwhile would find the caret moved back.
    const input = inputRef.current;
    if (input === null) return;
    input.value = next;
    input.setSelectionRange(before.length + 1, before.length + 1);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (!isOpen) setOpen(true);
      else if (suggestions.length > 0) {
        // with none chosen, up is the last one
        const from = Math.max(at, step > 0 ? -1 : 0);
        setAt((from + step + suggestions.length) % suggestions.length);
      }
    } else if ((event.key === "Enter" || event.key === "Tab") && isOpen && at >= 0) take(at);
    else if (event.key === "Enter") {
      apply(text.trim());
      setOpen(false);
    } else if (event.key === "Escape" && isOpen) setOpen(false);
    else if (event.key === "Escape") inputRef.current?.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="filter">
      <div class={`field-box${problem ? " field-bad" : ""}`}>
        <Icon name="filter" />
        <input
          ref={inputRef}
          class="field-input"
          type="text"
          role="combobox"
          aria-label="Filter runs"
          aria-expanded={suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
          aria-invalid={problem ? true : undefined}
          placeholder="Filter: config.lr < 0.01 and state = finished"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart ?? event.currentTarget.value.length);
            setOpen(true);
            setAt(-1);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        {text && (
          <IconButton class="field-clear" icon="close" label="Clear the filter" onClick={() => apply("")} />
        )}
      </div>
      {suggestions.length > 0 && (
        <div class="filter-list" role="listbox" id={`${id}-list`} aria-label="Completions" tabIndex={-1}>
          {suggestions.map((suggestion, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field has the keys, as a combobox does
            <div
              key={suggestion.text}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              class={`picker-item filter-item${index === at ? " picker-at" : ""}`}
              onMouseDown={(event) => {
                event.preventDefault(); // the field keeps the focus
                take(index);
              }}
            >
              <span class="cut mono picker-title">{suggestion.text}</span>
              <span class="quiet picker-detail">{suggestion.detail}</span>
            </div>
          ))}
          {left > 0 && <p class="quiet picker-note">{left} more: type to narrow them down</p>}
        </div>
      )}
      {problem && (
        <p class="field-problem" role="status">
          {problem.message}
          {problem.hint && `: ${problem.hint}`}
        </p>
      )}
    </div>
  );
}

/** What may come next, with the fields and texts that the server knows. */
function useCompletion(text: string, caret: number, isOpen: boolean) {
  const { entity, project, keys } = useWorkspace();
  const word = /[^\s()[\],=<>!~"`]*$/.exec(text.slice(0, caret))?.[0] ?? "";
  const fields = useFields(isOpen ? word : "");
  const { names } = keys.keys.value;
  const known = useMemo<KnownField[]>(() => {
    const figures = ["min", "max"].flatMap((figure) =>
      names.slice(0, FIGURED).map((key) => ({ name: `${figure}(${key})`, kinds: ["number"] })),
    );
    return [...(fields?.items ?? []), ...figures];
  }, [fields, names]);
  const plain = useMemo(() => complete(text, caret, known), [text, caret, known]);
  const asked = useSettled(isOpen ? plain.field : null);
  const prefix = useSettled(word);
  const path = asked === null ? null : `${place("projects", entity, project, "fields")}/texts`;
  const texts = useAnswer<{ items: string[] }>(path, { field: asked, prefix: prefix || null }).value;
  return useMemo(() => {
    if (asked === null || texts === undefined) return plain;
    const kinds = known.find((item) => item.name === asked)?.kinds ?? [];
    const field: KnownField = { name: asked, kinds, texts: texts.items };
    return complete(text, caret, [...known.filter((item) => item.name !== asked), field]);
  }, [plain, texts, asked, known, text, caret]);
}
