// Paths of files as a tree of folders with their sizes. Pure.

import { naturalCompare } from "../../../series/natural";

export interface Sized {
  readonly path: string;
  readonly size: number | null;
}

export interface Folder<F extends Sized> {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly count: number;
  readonly folders: readonly Folder<F>[];
  readonly files: readonly F[];
}

export type FileRow<F extends Sized> =
  | { readonly kind: "folder"; readonly folder: Folder<F>; readonly depth: number; readonly isOpen: boolean }
  | { readonly kind: "file"; readonly file: F; readonly name: string; readonly depth: number };

/** Return the folder that holds all files. */
export function folderOf<F extends Sized>(files: readonly F[], path = ""): Folder<F> {
  const own: F[] = [];
  const below = new Map<string, F[]>();
  const from = path === "" ? 0 : path.length + 1;
  for (const file of files) {
    const slash = file.path.indexOf("/", from);
    if (slash < 0) own.push(file);
    else {
      const name = file.path.slice(from, slash);
      const known = below.get(name);
      if (known) known.push(file);
      else below.set(name, [file]);
    }
  }
  const folders = [...below]
    .sort(([a], [b]) => naturalCompare(a, b))
    .map(([name, some]) => folderOf(some, path === "" ? name : `${path}/${name}`));
  own.sort((a, b) => naturalCompare(a.path, b.path));
  const size = files.reduce((sum, file) => sum + (file.size ?? 0), 0);
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    size,
    count: files.length,
    folders,
    files: own,
  };
}

/** Return the rows that are shown: what lies in closed folders is not; with a search, what matches, opened. */
export function fileRows<F extends Sized>(
  root: Folder<F>,
  isOpen: (path: string) => boolean,
  depth = 0,
): FileRow<F>[] {
  const rows: FileRow<F>[] = [];
  for (const folder of root.folders) {
    const open = isOpen(folder.path);
    rows.push({ kind: "folder", folder, depth, isOpen: open });
    if (open) rows.push(...fileRows(folder, isOpen, depth + 1));
  }
  for (const file of root.files) {
    rows.push({ kind: "file", file, name: file.path.slice(file.path.lastIndexOf("/") + 1), depth });
  }
  return rows;
}

const KINDS: Readonly<Record<string, string>> = {
  png: "image", jpg: "image", jpeg: "image", gif: "image", webp: "image", bmp: "image", svg: "image", avif: "image",
  wav: "audio", mp3: "audio", ogg: "audio", flac: "audio", mp4: "video", webm: "video", html: "html", htm: "html",
  bin: "binary", pt: "binary", pth: "binary", ckpt: "binary", safetensors: "binary", npz: "binary", npy: "binary",
  zip: "binary", gz: "binary", tar: "binary", pkl: "binary", h5: "binary", onnx: "binary", table: "binary",
  glb: "binary", parquet: "binary", pdf: "binary",
}; // biome-ignore format: a table

/** How a file is shown: by its name; what is not known is looked at as text. */
export function previewKind(path: string): string {
  const suffix = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return KINDS[suffix] ?? "text";
}
