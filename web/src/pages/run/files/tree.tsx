// A tree of files: arrows open and close folders and move about, Enter shows a file.

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { bytes, counted } from "../../../series/format";
import { TextField } from "../../../ui/field";
import { Icon } from "../../../ui/icon";
import { VirtualList, type VirtualListHandle } from "../../../ui/virtual";
import { type FileRow, fileRows, folderOf, type Sized } from "./paths";
import "./files.css";

export interface FileTreeProps<F extends Sized> {
  label: string;
  files: readonly F[];
  chosen: string;
  onChoose: (file: F) => void;
  /** Folders are closed at first where there are more files than this. */
  openUpTo?: number;
}

const ROW = 30;
const TALL = 480;

export function FileTree<F extends Sized>(props: FileTreeProps<F>): JSX.Element {
  const { files, chosen, openUpTo = 40 } = props;
  const [search, setSearch] = useState("");
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState(0);
  const list = useRef<VirtualListHandle>(null);
  const wanted = search.trim().toLowerCase();
  const root = useMemo(
    () => folderOf(wanted ? files.filter((file) => file.path.toLowerCase().includes(wanted)) : files),
    [files, wanted],
  );
  const rows = useMemo(() => {
    const isOpenFirst = files.length <= openUpTo;
    return fileRows(
      root,
      (path) => wanted !== "" || toggled.has(path) !== (isOpenFirst || chosen.startsWith(`${path}/`)),
    );
  }, [root, toggled, wanted, files.length, openUpTo, chosen]);
  const toggle = (path: string): void => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  const act = (row: FileRow<F> | undefined): void => {
    if (row?.kind === "folder") toggle(row.folder.path);
    else if (row) props.onChoose(row.file);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[cursor];
    const move = (to: number): void => {
      const next = Math.max(0, Math.min(rows.length - 1, to));
      setCursor(next);
      list.current?.show(next);
    };
    if (event.key === "ArrowDown") move(cursor + 1);
    else if (event.key === "ArrowUp") move(cursor - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if (event.key === "Enter" || event.key === " ") act(row);
    else if (event.key === "ArrowRight" && row?.kind === "folder" && !row.isOpen) toggle(row.folder.path);
    else if (event.key === "ArrowLeft" && row?.kind === "folder" && row.isOpen) toggle(row.folder.path);
    else return;
    event.preventDefault();
  };
  return (
    <div class="files-tree">
      {files.length > 8 && (
        <TextField
          type="search"
          icon="search"
          label={`Search in ${props.label}`}
          placeholder="Search files"
          value={search}
          onInput={setSearch}
        />
      )}
      {rows.length === 0 && <p class="quiet files-none">No file is called “{search}”.</p>}
      <div style={{ height: `${Math.min(TALL, rows.length * ROW)}px` }}>
        <VirtualList
          label={props.label}
          role="tree"
          count={rows.length}
          rowHeight={ROW}
          handle={list}
          onKeyDown={onKeyDown}
          attributes={{ "aria-activedescendant": `file-${cursor}` }}
          row={(index) => {
            const row = rows[index] as FileRow<F>;
            const isFolder = row.kind === "folder";
            const isChosen = !isFolder && row.file.path === chosen;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys
              <div
                id={`file-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                {...(isFolder && { "aria-expanded": row.isOpen })}
                aria-selected={isChosen}
                tabIndex={-1}
                class={`file-row${isChosen ? " file-chosen" : ""}${index === cursor ? " file-cursor" : ""}`}
                style={{ paddingLeft: `${8 + row.depth * 16}px` }}
                onClick={() => {
                  setCursor(index);
                  act(row);
                }}
              >
                <Icon name={isFolder ? (row.isOpen ? "chevronDown" : "chevronRight") : "file"} size={14} />
                <span class="cut file-name" title={isFolder ? row.folder.path : row.file.path}>
                  {isFolder ? row.folder.name : row.name}
                </span>
                <span
                  class="quiet file-size"
                  title={isFolder ? counted(row.folder.count, "file") : undefined}
                >
                  {isFolder ? bytes(row.folder.size) : row.file.size === null ? "link" : bytes(row.file.size)}
                </span>
              </div>
            );
          }}
        />
      </div>
    </div>
  );
}
