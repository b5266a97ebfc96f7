// A window with fields and one thing to do: says what went wrong and stays, or closes.

import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { ErrorNote } from "../../ui/note";

export interface FormProps {
  readonly title: string;
  /** What the button says. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Why it cannot be done yet. */
  readonly isBlocked?: boolean;
  readonly onDo: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Form({
  title,
  action,
  isDanger,
  isBlocked,
  onDo,
  onClose,
  children,
}: FormProps): JSX.Element {
  const id = useId();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await onDo();
    } catch (error) {
      setProblem(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={isDanger ? "danger" : "primary"}
            type="submit"
            disabled={isBusy || (isBlocked ?? false)}
            {...({ form: id } as JSX.HTMLAttributes<HTMLButtonElement>)}
          >
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="dialog-body settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
        {problem && <ErrorNote error={problem} />}
      </form>
    </Dialog>
  );
}
