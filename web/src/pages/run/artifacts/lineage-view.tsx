// The picture of what came from what. Arrows move between its items, Enter opens a run or shows a version.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go } from "../../../app/navigation";
import { count } from "../../../series/format";
import { Button } from "../../../ui/button";
import { ErrorNote } from "../../../ui/note";
import { useRun } from "../model";
import { type Graph, MOST, readGraph, runNode } from "./graph";
import { layout, NODE_HEIGHT, NODE_WIDTH, nextNode, type Placed } from "./lineage";

const SHORT = 25;

export function Lineage({
  chosen,
  onVersion,
}: {
  chosen: string;
  onVersion: (id: string) => void;
}): JSX.Element | null {
  const model = useRun();
  const [depth, setDepth] = useState(1);
  const [most, setMost] = useState(MOST);
  const [graph, setGraph] = useState<Graph | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const [cursor, setCursor] = useState(runNode(model.path));
  const svg = useRef<SVGSVGElement>(null);
  const beat = model.beat.value;
  useEffect(() => {
    void beat; // the run went on
    const abort = new AbortController();
    readGraph(model.path, depth, most, abort.signal).then(
      (read) => !abort.signal.aborted && setGraph(read),
      (error: Error) => !abort.signal.aborted && setProblem(error),
    );
    return () => abort.abort();
  }, [model, depth, most, beat]);
  const picture = useMemo(() => (graph === null ? null : layout(graph.nodes, graph.edges)), [graph]);
  const isDrawn = picture !== null;
  useEffect(() => {
    // The run of the page is what one looks for first.
    const scroller = svg.current?.parentElement;
    const own = svg.current?.querySelector(".lineage-own")?.getBoundingClientRect();
    if (!isDrawn || !scroller || !own) return;
    const box = scroller.getBoundingClientRect();
    scroller.scrollLeft += own.left + own.width / 2 - (box.left + box.width / 2);
  }, [isDrawn]);
  if (problem) return <ErrorNote error={problem} />;
  if (picture === null || graph === null || graph.nodes.length < 2) return null;
  const open = (node: Placed): void => {
    if (node.kind === "version") onVersion(node.id.slice("version:".length));
    else {
      const [entity = "", project = "", run = ""] = node.id.slice("run:".length).split("/");
      go({ name: "run", entity, project, run, tab: "artifacts" });
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const node = picture.nodes.find((one) => one.id === cursor);
    if (event.key === "Enter" && node) open(node);
    else if (event.key.startsWith("Arrow")) {
      const next = nextNode(picture.nodes, cursor, event.key);
      if (next === null) return;
      setCursor(next);
      svg.current
        ?.querySelector(`[data-node="${CSS.escape(next)}"]`)
        ?.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else return;
    event.preventDefault();
  };
  const at = picture.nodes.find((node) => node.id === cursor);
  return (
    <section class="card lineage" aria-label="Lineage">
      <div class="card-head">
        <h2>Lineage</h2>
        <span class="quiet">what it was made from, and what was made from it</span>
        <div class="card-end">
          {graph.leftOut > 0 && (
            <Button kind="quiet" onClick={() => setMost(Number.POSITIVE_INFINITY)}>
              Show {count(graph.leftOut)} more
            </Button>
          )}
          {graph.hasMore && (
            <Button kind="quiet" onClick={() => setDepth(depth + 1)}>
              One step further
            </Button>
          )}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a picture that takes keys has no element of its own */}
      <div
        class="lineage-scroll"
        role="group"
        aria-roledescription="graph"
        aria-label={`Lineage: ${graph.nodes.length} items. ${at ? `${at.note} ${at.label}` : ""}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move in it
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <svg ref={svg} width={picture.width} height={picture.height} aria-hidden="true">
          {picture.edges.map(({ edge, path }) => (
            <path
              key={`${edge.from} ${edge.to}`}
              class={`lineage-edge${edge.from === cursor || edge.to === cursor ? " lineage-edge-near" : ""}`}
              d={path}
            />
          ))}
          {picture.nodes.map((node) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: the graph around it takes the keys
            <g
              key={node.id}
              data-node={node.id}
              class={`lineage-node lineage-${node.kind}${node.column === 0 ? " lineage-own" : ""}${
                node.id === cursor ? " lineage-cursor" : ""
              }${node.id === `version:${chosen}` ? " lineage-chosen" : ""}`}
              transform={`translate(${node.x} ${node.y})`}
              onClick={() => {
                setCursor(node.id);
                open(node);
              }}
            >
              <title>{`${node.note}: ${node.label}`}</title>
              <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={node.kind === "run" ? NODE_HEIGHT / 2 : 6} />
              <text x={NODE_WIDTH / 2} y={19} class="lineage-label">
                {node.label.length > SHORT ? `${node.label.slice(0, SHORT - 1)}…` : node.label}
              </text>
              <text x={NODE_WIDTH / 2} y={34} class="lineage-note">
                {node.note}
              </text>
            </g>
          ))}
        </svg>
      </div>
    </section>
  );
}
