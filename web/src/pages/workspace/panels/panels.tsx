// All panels in their sections. Sections and panels beyond the first are there on demand, and told.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { watchSize } from "../../../chart/mount";
import { count, counted } from "../../../series/format";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { EmptyState } from "../../../ui/note";
import type { PanelSize } from "../../../view/state";
import { toggled } from "../../../view/toggled";
import { useWorkspace, type Workspace } from "../workspace";
import { HEIGHT, PanelBox } from "./panel";
import { freeId, movedBefore, type PanelSection, type PanelSpec, panelOfSearch, panelsOf } from "./specs";
import "./panels.css";

const LEAST_WIDTH = 300;
const GAP = 10;
/** Panels of a section that are there at first, and how many more each time. */
const PAGE = 60;
const SECTIONS = 40;

export function Panels(): JSX.Element {
  const workspace = useWorkspace();
  const keys = workspace.keys.keys.value;
  const { charts } = workspace.view.value;
  const { search, panels, pinned, order } = charts;
  const found = useMemo(() => panelsOf(keys, charts), [keys, search, panels, pinned, order]);
  const [most, setMost] = useState(SECTIONS);
  const holder = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(3);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    return watchSize(element, ({ contentRect }) => {
      setColumns(Math.max(1, Math.floor((contentRect.width + GAP) / (LEAST_WIDTH + GAP))));
    });
  }, []);
  const sections = found.sections.slice(0, most);
  return (
    <div class="panels" ref={holder} style={{ "--panel-columns": columns } as JSX.CSSProperties}>
      {search.trim() !== "" && (
        <SearchNote workspace={workspace} total={found.total} problem={found.problem} />
      )}
      {sections.map((section) => (
        <Section key={section.id} workspace={workspace} section={section} columns={columns} />
      ))}
      {sections.length < found.sections.length && (
        <Button class="panels-more" onClick={() => setMost(most + SECTIONS)}>
          Showing {count(sections.length)} of {count(found.sections.length)} sections: show more
        </Button>
      )}
    </div>
  );
}

function SearchNote({
  workspace,
  total,
  problem,
}: {
  workspace: Workspace;
  total: number;
  problem: string | null;
}): JSX.Element {
  const { charts } = workspace.view.value;
  const clear = (): void => workspace.change({ charts: { search: "" } });
  if (problem !== null) return <p class="panels-note panel-bad">{problem}</p>;
  if (total === 0) {
    return (
      <EmptyState title="No metric fits" icon="search">
        <p>
          Nothing is called <code>{charts.search}</code>.
        </p>
        <Button onClick={clear}>Clear the search</Button>
      </EmptyState>
    );
  }
  const keep = (): void => {
    const { names } = workspace.keys.keys.peek().index.search(charts.search);
    const panel = panelOfSearch(charts.search, names, freeId(charts.panels));
    workspace.change({ charts: { panels: [...charts.panels, panel], search: "" } });
  };
  return (
    <p class="panels-note quiet">
      {counted(total, "metric")} of {count(workspace.keys.keys.value.names.length)}
      <Button kind="quiet" icon="add" onClick={keep}>
        Keep as one panel
      </Button>
    </p>
  );
}

function Section({
  workspace,
  section,
  columns,
}: {
  workspace: Workspace;
  section: PanelSection;
  columns: number;
}): JSX.Element {
  const { charts } = workspace.view.value;
  const isOpen = !charts.collapsed.includes(section.id) || charts.search.trim() !== "";
  const [most, setMost] = useState(PAGE);
  const shown = isOpen ? section.first(most) : [];
  return (
    <section class="panel-section">
      <h2 class="section-head">
        <button
          type="button"
          class="section-fold"
          aria-expanded={isOpen}
          onClick={() => workspace.change({ charts: { collapsed: toggled(charts.collapsed, section.id) } })}
        >
          <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
          <span class="cut">{section.title}</span>
          <span class="quiet section-count">{count(section.count)}</span>
        </button>
      </h2>
      {isOpen && (
        <>
          <Grid workspace={workspace} section={section} shown={shown} columns={columns} />
          {shown.length < section.count && (
            <Button class="panels-more" onClick={() => setMost(most + 4 * PAGE)}>
              Showing {count(shown.length)} of {count(section.count)}: show more
            </Button>
          )}
        </>
      )}
    </section>
  );
}

interface GridProps {
  readonly workspace: Workspace;
  readonly section: PanelSection;
  readonly shown: readonly PanelSpec[];
  readonly columns: number;
}

function Grid({ workspace, section, shown, columns }: GridProps): JSX.Element {
  const { charts } = workspace.view.value;
  const [dragged, setDragged] = useState<string | null>(null);
  const [over, setOver] = useState<string | null>(null);
  const [sizing, setSizing] = useState<{ id: string; size: PanelSize } | null>(null);
  const move = (id: string, before: string | null): void =>
    workspace.change({ charts: { order: movedBefore(section, id, before, charts.order) } });
  const moveBy = (id: string, by: -1 | 1): void => {
    const place = section.ids.indexOf(id) + (by > 0 ? 2 : -1);
    if (place < 0 || place > section.ids.length) return;
    move(id, section.ids[place] ?? null);
    // The handle keeps the focus where the panel went.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-panel="${CSS.escape(id)}"] .panel-drag`)?.focus(),
    );
  };
  const drop = (on: string): void => {
    if (dragged !== null && dragged !== on) {
      const { ids } = section;
      const isBack = ids.indexOf(dragged) > ids.indexOf(on);
      move(dragged, isBack ? on : (ids[ids.indexOf(on) + 1] ?? null));
    }
    setDragged(null);
    setOver(null);
  };
  return (
    <div class="panel-grid">
      {shown.map((spec) => {
        const kept = sizing?.id === spec.id ? sizing.size : charts.sizes[spec.id];
        return (
          <PanelBox
            key={spec.id}
            workspace={workspace}
            spec={spec}
            columns={Math.min(columns, kept?.columns ?? 1)}
            height={kept?.height ?? HEIGHT}
            isDropPlace={over === spec.id && dragged !== null && dragged !== spec.id}
            onMove={(by) => moveBy(spec.id, by)}
            onDragStart={() => setDragged(spec.id)}
            onDragOver={() => over !== spec.id && setOver(spec.id)}
            onDrop={() => drop(spec.id)}
            onDragEnd={() => setOver(null)}
            onResize={(wide, height, isDone) => {
              const size = { columns: Math.min(columns, wide), height };
              setSizing(isDone ? null : { id: spec.id, size });
              if (isDone) workspace.change({ charts: { sizes: { ...charts.sizes, [spec.id]: size } } });
            }}
          />
        );
      })}
    </div>
  );
}
