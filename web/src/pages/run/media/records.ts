// Records of logged media (docs/data-types.md) as things to show: a list under one key becomes one item each. Pure.

import { sceneFormat } from "./scene";

export interface Box {
  /** In shares of the picture's width and height. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly classId: number | null;
  readonly label: string;
}

export interface BoxLayer {
  readonly name: string;
  readonly boxes: readonly Box[];
}

export interface MaskLayer {
  readonly name: string;
  readonly path: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Bins {
  readonly values: readonly number[];
  readonly edges: readonly number[];
  /** Values that have no bin. */
  readonly odd: number;
}

interface Common {
  readonly caption: string;
}
export type MediaItem = Common &
  (
    | {
        readonly kind: "image";
        readonly path: string;
        readonly width: number;
        readonly height: number;
        readonly layers: readonly BoxLayer[];
        readonly masks: readonly MaskLayer[];
      }
    | { readonly kind: "audio"; readonly path: string }
    | { readonly kind: "video"; readonly path: string; readonly format: string }
    | { readonly kind: "html"; readonly path: string }
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "histogram"; readonly bins: Bins }
    | { readonly kind: "plotly"; readonly path: string; readonly size: number | null }
    | { readonly kind: "scene"; readonly path: string; readonly size: number | null; readonly what: string }
    | { readonly kind: "file"; readonly path: string; readonly size: number | null; readonly what: string }
  );

type Record_ = Readonly<Record<string, unknown>>;

const FILES: Readonly<Record<string, string>> = {
  "object3D-file": "3D scene",
  "molecule-file": "Molecule",
  "graph-file": "Graph",
};

const isRecord = (value: unknown): value is Record_ =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const num = (value: unknown): number => (value === null || value === undefined ? Number.NaN : Number(value));

/** Types that are shown elsewhere: tables, and charts made of them. */
export function isTable(type: string): boolean {
  return type === "table" || type === "table-file" || type === "incremental-table-file" || type === "chart";
}

/** Return what there is to show of a value. */
export function itemsOf(value: unknown): MediaItem[] {
  if (typeof value === "string") return [{ kind: "text", text: value, caption: "" }];
  if (Array.isArray(value)) return value.every(isRecord) ? value.flatMap(itemsOf) : [plain(value)];
  if (!isRecord(value)) return [plain(value)];
  const type = text(value._type);
  const caption = text(value.caption);
  const path = text(value.path);
  switch (type) {
    case "image-file":
      return [imageOf(value)];
    case "images/separated":
      return imagesOf(value);
    case "audio-file":
      return [{ kind: "audio", path, caption }];
    case "video-file":
      return [{ kind: "video", path, caption, format: text(value.format) }];
    case "html-file":
      return [{ kind: "html", path, caption }];
    case "histogram":
      return [{ kind: "histogram", bins: binsOf(value), caption }];
    case "audio":
    case "videos":
    case "html":
    case "object3D":
      return list(value[type]).flatMap(itemsOf);
  }
  const what = FILES[type];
  if (what !== undefined || path) {
    const size = typeof value.size === "number" ? value.size : null;
    if (type === "plotly-file") return [{ kind: "plotly", path, size, caption }];
    if (what !== undefined && sceneFormat(path) !== null)
      return [{ kind: "scene", path, size, what, caption }];
    return [{ kind: "file", path, size, what: what ?? type, caption }];
  }
  return [plain(value)];
}

function plain(value: unknown): MediaItem {
  return { kind: "text", text: JSON.stringify(value, null, 2) ?? "", caption: "" };
}

function imageOf(record: Record_): MediaItem {
  const width = num(record.width);
  const height = num(record.height);
  return {
    kind: "image",
    path: text(record.path),
    caption: text(record.caption),
    width,
    height,
    layers: layersOf(record.boxes, width, height),
    masks: masksOf(record.masks),
  };
}

function imagesOf(record: Record_): MediaItem[] {
  const sizes = list(record.sizes);
  return list(record.filenames).map((path, index) => {
    const size = sizes[index];
    const [width, height] = Array.isArray(size) ? size : [record.width, record.height];
    return imageOf({
      path,
      width,
      height,
      caption: list(record.captions)[index],
      boxes: list(record.all_boxes)[index],
      masks: list(record.all_masks)[index],
    });
  });
}

function layersOf(boxes: unknown, width: number, height: number): BoxLayer[] {
  if (!isRecord(boxes)) return [];
  return Object.entries(boxes).flatMap(([name, layer]) => {
    if (!isRecord(layer)) return [];
    const labels = isRecord(layer.class_labels) ? layer.class_labels : {};
    return [{ name, boxes: list(layer.box_data).flatMap((box) => boxOf(box, labels, width, height)) }];
  });
}

function boxOf(box: unknown, labels: Record_, width: number, height: number): Box[] {
  if (!isRecord(box) || !isRecord(box.position)) return [];
  const { position } = box;
  const isPixel = box.domain === "pixel";
  const [across, down] = isPixel ? [width, height] : [1, 1];
  let [x, y, wide, tall] = [num(position.minX), num(position.minY), Number.NaN, Number.NaN];
  if (Array.isArray(position.middle)) {
    wide = num(position.width);
    tall = num(position.height);
    x = num(position.middle[0]) - wide / 2;
    y = num(position.middle[1]) - tall / 2;
  } else {
    wide = num(position.maxX) - x;
    tall = num(position.maxY) - y;
  }
  const classId = typeof box.class_id === "number" ? box.class_id : null;
  const named = classId === null ? "" : text(labels[String(classId)]) || `class ${classId}`;
  const scores = isRecord(box.scores)
    ? Object.entries(box.scores).map(([name, score]) => `${name} ${Number(num(score).toPrecision(3))}`)
    : [];
  const label = [text(box.box_caption) || named, ...scores].filter(Boolean).join(", ");
  const found = { x: x / across, y: y / down, width: wide / across, height: tall / down, classId, label };
  return [found.x, found.y, found.width, found.height].every(Number.isFinite) ? [found] : [];
}

function masksOf(masks: unknown): MaskLayer[] {
  if (!isRecord(masks)) return [];
  return Object.entries(masks).flatMap(([name, mask]) => {
    if (!isRecord(mask) || !text(mask.path)) return [];
    const labels = isRecord(mask.class_labels) ? (mask.class_labels as Record<string, string>) : {};
    return [{ name, path: text(mask.path), labels }];
  });
}

export function binsOf(record: Record_): Bins {
  const odd = [record.nan, record.posinf, record.neginf].reduce<number>(
    (sum, some) => sum + (Number(some) || 0),
    0,
  );
  return { values: list(record.values).map(num), edges: list(record.bins).map(num), odd };
}
