// The page of results in its frame. It is there only once the server has answered with one: what a frame shows of a
// problem is raw. It finds its way by itself; what it says is where it is, of how many results it was made, and which
// run is to be opened.

import type { JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { go, Link } from "../../app/navigation";
import { counted } from "../../series/format";
import { address, isMissing, returns, send } from "../../server/client";
import { Button } from "../../ui/button";
import { EmptyState, ErrorNote } from "../../ui/note";
import { setParams, useParam } from "../run/params";
import { type Listing, numResults } from "./listing";
import { Nothing } from "./nothing";
import { said } from "./said";

const PATH = "/benchmarks";
/** The view that is shown without any in the address. */
const RESULTS = "results";

export interface ResultsFrameProps {
  /** entity/project, as the list has it; "" for all. */
  project: string;
  isDark: boolean;
  listing: Listing;
}

/** Give it a key of its own for every project and theme: it begins anew with each. */
export function ResultsFrame({ project, isDark, listing }: ResultsFrameProps): JSX.Element {
  const [view] = useParam("view", RESULTS);
  const [systems] = useParam("systems");
  const frame = useRef<HTMLIFrameElement>(null);
  // View and systems are in the address so that a link shows them; once the frame is there, it is the one to choose.
  const [source] = useState(() => {
    const hash = `#${encodeURIComponent(view)}${systems && `?systems=${systems}`}`;
    return address(PATH, { project: project || null, theme: isDark ? "dark" : "light" }) + hash;
  });
  /** Of how many results the page in the frame was made, and the list at that time; null until it has said so. */
  const [told, setTold] = useState<{ results: number; listing: Listing } | null>(null);
  const page = useAnsweredPage(source, () => {
    if (told === null) return false;
    setTold(null);
    frame.current?.contentWindow?.postMessage({ strobe: "renew" }, "*");
    return true;
  });
  useWords(frame, (results) =>
    setTold((before) => (before?.results === results ? before : { results, listing })),
  );
  const there = numResults(listing, project);
  const { problem, again } = page;
  // Other results are a reason to ask once more.
  useEffect(() => {
    if (problem) again();
  }, [there]);
  if (problem && isMissing(problem)) return project ? <NothingIn project={project} /> : <Nothing />;
  if (problem && told === null) {
    return (
      <div class="page">
        <ErrorNote error={problem} onRetry={again} />
      </div>
    );
  }
  // The list may be older than the page; the next one is not.
  const more = told === null || told.listing === listing ? 0 : there - told.results;
  const news = more > 0 ? counted(more, "new result") : more < 0 ? "Results were deleted" : null;
  return (
    <>
      <div class="benchmarks-news" role="status">
        {news && (
          <div class="toast">
            <span class="toast-text">{problem?.message ?? news}</span>
            <Button onClick={again}>Update</Button>
          </div>
        )}
      </div>
      {page.number > 0 && (
        <iframe
          key={page.number}
          ref={frame}
          title="Benchmark results"
          src={source}
          sandbox="allow-scripts"
          allow="clipboard-write"
        />
      )}
    </>
  );
}

interface AnsweredPage {
  /** Grows with every frame that is to take the place of the one before; 0 while there is none. */
  number: number;
  problem: Error | null;
  again: () => void;
}

/**
 * Ask for a page, again when a lost server is back that could not give it; one that is there stays as somebody reads it.
 * `renew` tells whether it takes care of a newer one itself.
 */
function useAnsweredPage(source: string, renew: () => boolean): AnsweredPage {
  const [number, setNumber] = useState(0);
  const [problem, setProblem] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const latest = useRef(renew);
  latest.current = renew;
  const again = useCallback(() => setRound((before) => before + 1), []);
  const back = returns.value;
  useEffect(() => {
    if (problem) again();
  }, [back]);
  useEffect(() => {
    const abort = new AbortController();
    send("GET", source, { abort: abort.signal }).then(
      (answer) => {
        void answer.body?.cancel(); // the frame reads it
        setProblem(null);
        if (!latest.current()) setNumber((before) => before + 1);
      },
      (error: Error) => {
        if (!abort.signal.aborted) setProblem(error);
      },
    );
    return () => abort.abort();
  }, [source, round]);
  return { number, problem, again };
}

/** Hear what the page in the frame says. */
function useWords(frame: { current: HTMLIFrameElement | null }, onMade: (results: number) => void): void {
  const latest = useRef(onMade);
  latest.current = onMade;
  useEffect(() => {
    const listen = (event: MessageEvent): void => {
      if (event.source === null || event.source !== frame.current?.contentWindow) return;
      const word = said(event.data);
      if (word?.kind === "run") go({ name: "run", ...word.run, tab: "" });
      if (word?.kind === "view") {
        latest.current(word.results);
        setParams({ view: word.view === RESULTS ? null : word.view, systems: word.systems });
      }
    };
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, [frame]);
}

function NothingIn({ project }: { project: string }): JSX.Element {
  return (
    <EmptyState title={`There are no benchmark results in ${project}`} icon="search">
      <p>
        If they are on their way, they show up here. Else they were deleted, the project has another name, or
        you may not see it. <Link to={{ name: "benchmarks" }}>See the results of all projects</Link>
      </p>
    </EmptyState>
  );
}
