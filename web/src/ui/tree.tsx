// A tree of names and values with a search: nested maps such as a run's config. Rows are virtual once there are many.

import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { TextField } from "./field";
import { Icon } from "./icon";
import { CopyButton } from "./note";
import { type Branch, matching, rowsOf, type TreeRow } from "./tree-rows";
import { VirtualList } from "./virtual";
import "./tree.css";

export interface TreeProps {
  label: string;
  branches: readonly Branch[];
  /** How a leaf's value is shown; its text unless given. */
  leaf?: (branch: Branch) => ComponentChildren;
  placeholder?: string;
  /** Shown when there is nothing at all. */
  empty?: string;
}

const ROW = 26;
const MANY = 200;

export function Tree({
  label,
  branches,
  leaf,
  placeholder = "Search keys and values",
  empty = "Nothing here",
}: TreeProps): JSX.Element {
  const [search, setSearch] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const found = useMemo(() => matching(branches, search), [branches, search]);
  const rows = useMemo(() => rowsOf(found, search ? new Set() : closed), [found, closed, search]);
  const toggle = (path: string): void => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  if (branches.length === 0) return <p class="quiet">{empty}</p>;
  const show = (row: TreeRow): JSX.Element => (
    <Row row={row} leaf={leaf} onToggle={() => toggle(row.branch.path)} />
  );
  return (
    <div class="tree">
      <TextField
        type="search"
        icon="search"
        label={`Search in ${label}`}
        placeholder={placeholder}
        value={search}
        onInput={setSearch}
      />
      {rows.length === 0 && <p class="quiet tree-none">No key or value contains “{search}”.</p>}
      {rows.length > MANY ? (
        <div class="tree-many">
          <VirtualList
            label={label}
            count={rows.length}
            rowHeight={ROW}
            row={(index) => show(rows[index] as TreeRow)}
          />
        </div>
      ) : (
        <div>
          {rows.map((row) => (
            <Fragment key={row.branch.path}>{show(row)}</Fragment>
          ))}
        </div>
      )}
    </div>
  );
}

function Row({
  row,
  leaf,
  onToggle,
}: {
  row: TreeRow;
  leaf: TreeProps["leaf"];
  onToggle: () => void;
}): JSX.Element {
  const { branch, depth, isOpen } = row;
  const indent = depth * 16;
  const inset = { paddingLeft: `${indent}px` };
  if (branch.children) {
    return (
      <div class="tree-row" style={inset}>
        <button type="button" class="tree-toggle" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
          <span class="cut">{branch.name}</span>
          {!isOpen && <span class="quiet">{branch.children.length}</span>}
        </button>
      </div>
    );
  }
  return (
    <div class="tree-row" style={inset}>
      {/* narrower by what it is moved in, so that all values begin at one place */}
      <span class="tree-name cut" style={{ width: `calc(40% - ${indent * 0.6}px)` }} title={branch.path}>
        {branch.name}
      </span>
      <span class="tree-value cut mono" title={branch.text}>
        {leaf ? leaf(branch) : branch.text || <span class="quiet">""</span>}
      </span>
      <CopyButton text={branch.text} label={`Copy ${branch.name}`} />
    </div>
  );
}
