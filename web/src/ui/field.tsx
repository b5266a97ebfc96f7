// Controls that hold a value: text, choice, switch, slider. Each has a name, shown or for screen readers alone.

import type { ComponentChildren, JSX, Ref } from "preact";
import { useId } from "preact/hooks";
import { IconButton } from "./button";
import { Icon, type IconName } from "./icon";
import "./field.css";

interface Named {
  label: string;
  /** Shown before the control; else the label is for screen readers, and a tooltip. */
  isLabelShown?: boolean;
}

export interface TextFieldProps extends Named {
  value: string;
  onInput: (value: string) => void;
  /** Enter was pressed. */
  onEnter?: (value: string) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  placeholder?: string;
  icon?: IconName;
  type?: "text" | "search" | "password" | "number" | "email" | "url";
  /** What is wrong with the value. */
  problem?: string | null | undefined;
  /** Shown inside at the end, such as the key that comes here. */
  hint?: ComponentChildren;
  class?: string;
  inputRef?: Ref<HTMLInputElement>;
  autofocus?: boolean;
  autocomplete?: string;
  disabled?: boolean;
  attributes?: JSX.HTMLAttributes<HTMLInputElement>;
}

export function TextField({
  label,
  isLabelShown = false,
  value,
  onInput,
  onEnter,
  ...rest
}: TextFieldProps): JSX.Element {
  const id = useId();
  const { icon, type = "text", problem, hint, onKeyDown } = rest;
  return (
    <div class={`field ${rest.class ?? ""}`}>
      <label class={isLabelShown ? "field-label" : "unseen"} for={id}>
        {label}
      </label>
      <div class={`field-box${problem ? " field-bad" : ""}`}>
        {icon && <Icon name={icon} />}
        <input
          {...rest.attributes}
          ref={rest.inputRef ?? null}
          id={id}
          class="field-input"
          type={type === "search" ? "text" : type}
          role={type === "search" ? "searchbox" : undefined}
          value={value}
          placeholder={rest.placeholder}
          autocomplete={rest.autocomplete ?? "off"}
          autofocus={rest.autofocus}
          disabled={rest.disabled}
          spellcheck={false}
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? `${id}-problem` : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
          onKeyDown={(event) => {
            onKeyDown?.(event);
            if (event.defaultPrevented) return;
            if (event.key === "Enter") onEnter?.(event.currentTarget.value);
            if (event.key === "Escape" && type === "search" && value) {
              event.preventDefault();
              event.stopPropagation();
              onInput("");
            }
          }}
        />
        {type === "search" && value ? (
          <IconButton class="field-clear" icon="close" label="Clear" onClick={() => onInput("")} />
        ) : (
          hint
        )}
      </div>
      {problem && (
        <p class="field-problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

export interface SelectProps<T extends string> extends Named {
  value: T;
  options: readonly { value: T; title: string }[];
  onChange: (value: T) => void;
  class?: string;
  disabled?: boolean;
}

export function Select<T extends string>({
  label,
  isLabelShown,
  value,
  options,
  onChange,
  ...rest
}: SelectProps<T>): JSX.Element {
  const id = useId();
  return (
    <div class={`field field-inline ${rest.class ?? ""}`}>
      <label class={isLabelShown ? "field-label" : "unseen"} for={id}>
        {label}
      </label>
      <div class="select-box">
        <select
          id={id}
          class="select"
          title={label}
          value={value}
          disabled={rest.disabled}
          onChange={(event) => onChange(event.currentTarget.value as T)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.title}
            </option>
          ))}
        </select>
        <Icon name="chevronDown" />
      </div>
    </div>
  );
}

export interface SwitchProps extends Named {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
}

/** The label is shown behind it unless told otherwise. */
export function Switch({ label, isLabelShown = true, isOn, onChange, disabled }: SwitchProps): JSX.Element {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        disabled={disabled}
        aria-checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class="switch-track" aria-hidden="true" />
      <span class={isLabelShown ? "" : "unseen"}>{label}</span>
    </label>
  );
}

export interface SliderProps extends Named {
  value: number;
  min: number;
  max: number;
  step?: number;
  /** The value as text. */
  shown?: string;
  /** Another value that is pointed at: a line across the slider. */
  mark?: number | null;
  onInput: (value: number) => void;
  class?: string;
  disabled?: boolean;
}

export function Slider({
  label,
  isLabelShown,
  value,
  min,
  max,
  step = 1,
  shown,
  mark = null,
  onInput,
  ...rest
}: SliderProps): JSX.Element {
  const id = useId();
  return (
    <div class={`field field-inline ${rest.class ?? ""}`}>
      <label class={isLabelShown ? "field-label" : "unseen"} for={id}>
        {label}
      </label>
      <span class="slider-track">
        <input
          id={id}
          class="slider"
          type="range"
          title={label}
          min={min}
          max={max}
          step={step}
          value={value}
          disabled={rest.disabled}
          aria-valuetext={shown}
          onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
        />
        {mark !== null && max > min && (
          <span class="slider-mark" style={{ "--at": (mark - min) / (max - min) }} />
        )}
      </span>
      {shown !== undefined && (
        <output class="slider-value" for={id}>
          {shown}
        </output>
      )}
    </div>
  );
}
