// What the run printed: search, follow, one process of several, and the way to the charts and back by time.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go } from "../../../app/navigation";
import { type Command, useCommands } from "../../../keys/commands";
import { count, counted } from "../../../series/format";
import { Button, IconButton } from "../../../ui/button";
import { Select, TextField } from "../../../ui/field";
import { EmptyState, ErrorNote } from "../../../ui/note";
import type { ConsoleLine } from "../documents";
import { useRun } from "../model";
import { useParam } from "../params";
import { patternOf } from "./find";
import { choiceOf, lanesIn, whoOf } from "./lanes";
import { Log, type LogHandle } from "./log";
import { Matches, nextMatch } from "./matches";
import { ConsolePages } from "./pages";
import "./console.css";

const PAUSE_MS = 250;

export function Console(): JSX.Element {
  const model = useRun();
  const [lane, setLane] = useParam("lane");
  const [text, setText] = useParam("q");
  const [mode, setMode] = useParam("re");
  const [wrap, setWrap] = useParam("wrap");
  const [at, setAt] = useParam("at");
  const [isFollowing, setFollowing] = useState(at === "");
  const [current, setCurrent] = useState<number | null>(null);
  const log = useRef<LogHandle>(null);
  const field = useRef<HTMLInputElement>(null);
  const address = model.api("console");
  const pages = useMemo(() => new ConsolePages(address, choiceOf(lane)), [address, lane]);
  useEffect(() => () => pages.stop(), [pages]);
  useEffect(() => void pages.show(0, 0), [pages]);
  const beat = model.beat.value;
  useEffect(() => {
    if (beat > 0) void pages.refresh();
  }, [pages, beat]);

  // A link to a moment: find its line, once.
  const total = pages.total.value;
  const hasLines = total !== null && total > 0;
  useEffect(() => {
    if (at === "" || !hasLines) return;
    let isGone = false;
    pages.lineAt(at).then(
      (line) => {
        if (isGone || line === null) return;
        setFollowing(false);
        setCurrent(line);
        log.current?.show(line);
      },
      (error: Error) => {
        pages.problem.value = error;
      },
    );
    return () => {
      isGone = true;
    };
  }, [pages, at, hasLines]);

  const matches = useMatches(address, text, mode === "1", lane);
  const pattern = useMemo(() => patternOf({ text, isRegex: mode === "1", matchCase: false }), [text, mode]);
  const found = matches?.lines.value ?? [];
  const place = current === null ? -1 : found.indexOf(current);
  const goTo = (direction: 1 | -1): void => {
    const index = nextMatch(found, current ?? -1, direction);
    const line = found[index];
    if (line === undefined) return;
    setFollowing(false);
    setCurrent(line);
    log.current?.show(line);
  };
  // The first match is shown as soon as it is there.
  const firstMatch = found[0];
  useEffect(() => {
    if (firstMatch === undefined || at !== "") return;
    setFollowing(false);
    setCurrent(firstMatch);
    log.current?.show(firstMatch);
  }, [firstMatch, matches]);

  const latest = useRef({ goTo });
  latest.current = { goTo };
  const isWrapped = wrap !== "0";
  useCommands(
    useMemo(
      () =>
        ownCommands({
          search: () => field.current?.focus(),
          next: () => latest.current.goTo(1),
          previous: () => latest.current.goTo(-1),
          follow: () => {
            setFollowing(true);
            setAt("");
          },
          start: () => {
            setFollowing(false);
            log.current?.show(0);
          },
          wrap: () => setWrap(isWrapped ? "0" : ""),
        }),
      [setAt, setWrap, isWrapped],
    ),
  );
  const lanes = lanesIn(pages.lanes.value, model.run.value?.attempts.length ?? 1, lane);
  const problem = pages.problem.value;
  if (problem && total === null) return <ErrorNote error={problem} onRetry={() => pages.show(0, 0)} />;
  if (total === 0 && lane === "") {
    return (
      <EmptyState title="Nothing was printed" icon="terminal">
        <p>
          {model.isRunning
            ? "Lines show up here as the run prints them."
            : "The run printed nothing, or its console was not recorded: the setting console was off."}
        </p>
      </EmptyState>
    );
  }
  const onTime = (line: ConsoleLine): void => {
    const { entity, project, id } = model;
    const search = `?x=wall&at=${String(line.time_ns / 1e6)}`;
    go({ name: "run", entity, project, run: id, tab: "charts" }, { search });
  };
  const hasSeveral = new Set(pages.lanes.value.map(whoOf)).size > 1;
  return (
    <>
      <div class="run-bar">
        <TextField
          type="search"
          icon="search"
          label="Search the console"
          placeholder={mode === "1" ? "Search by pattern" : "Search lines"}
          hint={<kbd>/</kbd>}
          value={text}
          onInput={setText}
          inputRef={field}
          problem={matches?.problem.value?.message}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            goTo(event.shiftKey ? -1 : 1);
          }}
        />
        <Button
          pressed={mode === "1"}
          onClick={() => setMode(mode === "1" ? "" : "1")}
          title="Regular expression"
        >
          .*
        </Button>
        {text !== "" && (
          <span class="log-matches" role="status">
            {matchesText(place, found.length, matches?.isLooking.value ?? true, matches?.next.value ?? null)}
          </span>
        )}
        {text !== "" && matches?.next.value != null && (
          <Button kind="quiet" onClick={() => void matches.look(matches.next.peek() ?? 0)}>
            Look further
          </Button>
        )}
        {text !== "" && (
          <>
            <IconButton icon="chevronDown" label="Next match" keys="n" onClick={() => goTo(1)} />
            <IconButton icon="back" class="log-up" label="Previous match" keys="N" onClick={() => goTo(-1)} />
          </>
        )}
        <div class="run-bar-end">
          {lanes.length > 1 && <Select label="Lines of" value={lane} options={lanes} onChange={setLane} />}
          <Button
            pressed={isWrapped}
            onClick={() => setWrap(isWrapped ? "0" : "")}
            title="Wrap long lines (w)"
          >
            Wrap
          </Button>
          <Button
            pressed={isFollowing}
            title="Stay at the end (f)"
            onClick={() => {
              setAt("");
              setFollowing(!isFollowing);
            }}
          >
            Follow
          </Button>
          <a class="button" href={`/api/v1${address}/text`} download="console.log" title="Download all lines">
            Download
          </a>
        </div>
      </div>
      {problem && <ErrorNote error={problem} onRetry={() => void pages.refresh()} />}
      <Log
        pages={pages}
        isWrapped={isWrapped}
        isFollowing={isFollowing}
        onFollow={setFollowing}
        current={current}
        pattern={pattern}
        whoOf={(line) => (hasSeveral && lane === "" ? whoOf(pages.lane(line)) : null)}
        onTime={onTime}
        handle={log}
      />
      <p class="log-count quiet">
        {total === null ? " " : counted(total, "line")}
        {model.isRunning && isFollowing && " · live"}
      </p>
    </>
  );
}

function matchesText(place: number, length: number, isLooking: boolean, next: number | null): string {
  if (length === 0) return isLooking ? "Looking…" : "No match";
  const all = `${count(length)}${isLooking || next !== null ? "+" : ""}`;
  return place < 0 ? `${all} ${length === 1 ? "line" : "lines"}` : `${count(place + 1)} of ${all}`;
}

/** The search, begun a moment after the last key. */
function useMatches(address: string, text: string, isRegex: boolean, lane: string): Matches | null {
  const [matches, setMatches] = useState<Matches | null>(null);
  useEffect(() => {
    setMatches(null);
    if (text === "") return;
    const search = new Matches(address, { text, isRegex, matchCase: false }, choiceOf(lane));
    const timer = setTimeout(() => {
      setMatches(search);
      void search.look();
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      search.stop();
    };
  }, [address, text, isRegex, lane]);
  return matches;
}

function ownCommands(
  does: Record<"search" | "next" | "previous" | "follow" | "start" | "wrap", () => void>,
): Command[] {
  const group = "Console";
  return [
    { id: "console.search", title: "Search the console", group, keys: "/", run: does.search },
    { id: "console.next", title: "Next match", group, keys: "n", run: does.next },
    { id: "console.previous", title: "Previous match", group, keys: "shift+n", run: does.previous },
    {
      id: "console.follow",
      title: "Follow the end of the console",
      group,
      keys: ["f", "shift+g"],
      run: does.follow,
    },
    { id: "console.start", title: "First line of the console", group, keys: "g g", run: does.start },
    { id: "console.wrap", title: "Wrap long lines", group, keys: "w", run: does.wrap },
  ];
}
