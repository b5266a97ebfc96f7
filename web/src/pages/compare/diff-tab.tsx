// What differs between the runs: config, environment, code, packages. Differences alone unless all is wanted.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { count } from "../../series/format";
import { Button } from "../../ui/button";
import { Switch, TextField } from "../../ui/field";
import { ErrorNote } from "../../ui/note";
import { Segments } from "../../ui/tabs";
import { CodeDiff } from "./code-diff";
import { useComparison } from "./comparison";
import { DiffSection, FEW_RUNS } from "./diff-section";
import { type Facts, readFacts } from "./environment";
import type { Layout } from "./state";

export function DiffTab(): JSX.Element {
  const { state, change, runs } = useComparison();
  const configs = useMemo(() => runs.map((run) => run.config ?? {}), [runs]);
  const facts = useFacts();
  const { ignore, problem } = useMemo(() => patternOf(state.ignore), [state.ignore]);
  const parts = useMemo(
    () =>
      facts.value && {
        environment: facts.value.map((one) => one.environment),
        code: facts.value.map((one) => one.code),
        packages: facts.value.map((one) => one.packages),
        diffs: facts.value.map((one) => one.gitDiff),
      },
    [facts.value],
  );
  const layout = state.layout === "auto" ? (runs.length <= FEW_RUNS ? "runs" : "values") : state.layout;
  return (
    <div class="compare-diff">
      <div class="compare-tools">
        <Switch label="Differences only" isOn={!state.all} onChange={(isOn) => change({ all: !isOn })} />
        <TextField
          label="Ignore keys (regular expression)"
          placeholder="Ignore keys, as in seed|output_dir"
          icon="filter"
          class="diff-ignore"
          value={state.ignore}
          problem={problem}
          onInput={(ignored) => change({ ignore: ignored }, { replace: true })}
        />
        <Segments<Exclude<Layout, "auto">>
          label="Layout"
          value={layout}
          options={[
            { value: "runs", title: "By run" },
            { value: "values", title: "By value" },
          ]}
          onChange={(chosen) => change({ layout: chosen })}
        />
      </div>
      <DiffSection id="config" title="Config" maps={configs} ignore={ignore} none="No run has a config." />
      {facts.problem && <ErrorNote error={facts.problem} onRetry={facts.reload} />}
      {parts === undefined ? (
        !facts.problem && (
          <p class="compare-note" aria-busy="true">
            {facts.isAsked ? (
              `Reading environments: ${count(facts.done)} of ${count(runs.length)}`
            ) : (
              <>
                Environment, code and packages of {count(runs.length)} runs are many:{" "}
                <Button onClick={facts.ask}>Read them</Button>
              </>
            )}
          </p>
        )
      ) : (
        <>
          <DiffSection
            id="code"
            title="Code"
            maps={parts.code}
            ignore={ignore}
            note={new Set(parts.diffs).size > 1 ? "changes that were not committed differ" : ""}
            none="No run was in a git repository."
          >
            <CodeDiff diffs={parts.diffs} />
          </DiffSection>
          <DiffSection
            id="environment"
            title="Environment"
            maps={parts.environment}
            ignore={ignore}
            none="No run recorded its environment."
          />
          <DiffSection
            id="packages"
            title="Packages"
            maps={parts.packages}
            ignore={ignore}
            none="No run recorded its packages."
          />
        </>
      )}
    </div>
  );
}

export function patternOf(text: string): { ignore: RegExp | null; problem: string | null } {
  if (text.trim() === "") return { ignore: null, problem: null };
  try {
    return { ignore: new RegExp(text, "i"), problem: null };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ignore: null, problem: `Not a regular expression: ${error.message.replace(/^.*: /, "")}` };
  }
}

/** Runs whose environments are read without being asked. */
const UNASKED = 200;

interface ReadFacts {
  value: readonly Facts[] | undefined;
  done: number;
  isAsked: boolean;
  problem: Error | null;
  ask: () => void;
  reload: () => void;
}

function useFacts(): ReadFacts {
  const { runs } = useComparison();
  const [read, setRead] = useState<{ runs: unknown; value: Facts[] } | null>(null);
  const [done, setDone] = useState(0);
  const [isWanted, setWanted] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const isAsked = isWanted || runs.length <= UNASKED;
  useEffect(() => {
    if (!isAsked) return;
    const abort = new AbortController();
    setProblem(null);
    readFacts(runs, abort.signal, setDone).then(
      (value) => !abort.signal.aborted && setRead({ runs, value }),
      (error: Error) => !abort.signal.aborted && setProblem(error),
    );
    return () => abort.abort();
  }, [runs, isAsked, round]);
  return {
    value: read?.runs === runs ? read.value : undefined,
    done,
    isAsked,
    problem,
    ask: () => setWanted(true),
    reload: () => setRound((count) => count + 1),
  };
}
