// The text of a file of the run that is drawn here: not if it is so large that drawing it would be felt.

import { useEffect, useState } from "preact/hooks";
import { bytes } from "../../../series/format";
import { useRun } from "../model";

/** Larger ones are offered as a download. */
const MOST = 20 * 1024 * 1024;

export interface FileText {
  /** Null until it is here. */
  readonly text: string | null;
  /** Why it will not come. */
  readonly problem: string | null;
}

export function useFileText(path: string, size: number | null): FileText {
  const model = useRun();
  const address = model.fileAddress(path);
  const [found, setFound] = useState<FileText>({ text: null, problem: null });
  useEffect(() => {
    if (size !== null && size > MOST) {
      setFound({ text: null, problem: `${bytes(size)} are too much to draw here` });
      return;
    }
    const abort = new AbortController();
    setFound({ text: null, problem: null });
    fetch(address, { signal: abort.signal })
      .then(async (answer) => {
        if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
        setFound({ text: await answer.text(), problem: null });
      })
      .catch((error: Error) => {
        if (!abort.signal.aborted) setFound({ text: null, problem: error.message });
      });
    return () => abort.abort();
  }, [address, size]);
  return found;
}
