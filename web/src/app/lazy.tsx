// Pages are loaded when they are first shown.

import type { FunctionComponent, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorNote } from "../ui/note";

/** Return a component that loads itself. */
export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | null = null;
  return function Lazy(props: Props): JSX.Element {
    const [problem, setProblem] = useState<Error | null>(null);
    const [, render] = useState(0);
    useEffect(() => {
      if (loaded !== null || problem !== null) return;
      let isGone = false;
      load().then(
        (component) => {
          loaded = component;
          if (!isGone) render((round) => round + 1);
        },
        (error: Error) => {
          if (!isGone) setProblem(error);
        },
      );
      return () => {
        isGone = true;
      };
    }, [problem]);
    if (problem) {
      // A part that is gone means that the server has a newer page: only loading that helps.
      const told = new Error(
        `A part of the page could not be loaded (${problem.message}). Load the page again.`,
      );
      return (
        <div class="page">
          <ErrorNote error={told} onRetry={() => location.reload()} />
        </div>
      );
    }
    if (loaded === null) return <div class="page" aria-busy="true" />;
    const Loaded = loaded;
    return <Loaded {...props} />;
  };
}
