// Points and lines in space: a point cloud with boxes and vectors as JSON, a molecule as PDB or MOL. Pure.

export type Place = readonly [x: number, y: number, z: number];

export interface ScenePoint {
  readonly at: Place;
  /** CSS; "" for the colour of the page, a number for one of the palette. */
  readonly colour: string | number;
  /** In points of the picture. */
  readonly radius: number;
}

export interface SceneLine {
  readonly from: Place;
  readonly to: Place;
  readonly colour: string;
}

export interface Scene {
  readonly points: readonly ScenePoint[];
  readonly lines: readonly SceneLine[];
  /** What its points are called. */
  readonly unit: "point" | "atom";
}

export const SCENE_FORMATS = ["pts.json", "pdb", "sdf", "sd", "mol"] as const;

/** Return the ending by which a file is read, null if it is not read here. */
export function sceneFormat(path: string): (typeof SCENE_FORMATS)[number] | null {
  return SCENE_FORMATS.find((ending) => path.toLowerCase().endsWith(`.${ending}`)) ?? null;
}

/** Return the scene of a file; null if it has nothing to show. */
export function sceneOf(path: string, text: string): Scene | null {
  const format = sceneFormat(path);
  const scene = format === "pts.json" ? cloudOf(text) : format === "pdb" ? pdbOf(text) : molOf(text);
  return scene === null || scene.points.length + scene.lines.length === 0 ? null : scene;
}

function cloudOf(text: string): Scene | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null; // said where it is shown
  }
  const whole = Array.isArray(json) ? { points: json } : (json as Record<string, unknown> | null);
  if (whole === null || typeof whole !== "object") return null;
  const points = rows(whole.points).flatMap((row): ScenePoint[] => {
    const at = placeOf(row);
    if (at === null) return [];
    const [r, g, b] = row.slice(3).map(Number);
    if (row.length >= 6) return [{ at, colour: `rgb(${r} ${g} ${b})`, radius: 1.5 }];
    return [{ at, colour: row.length === 4 ? (r as number) : "", radius: 1.5 }];
  });
  const lines: SceneLine[] = [];
  for (const box of objects(whole.boxes)) {
    const corners = rows(box.corners).flatMap((row) => placeOf(row) ?? []);
    const places: Place[] = [];
    for (let i = 0; i + 2 < corners.length; i += 3)
      places.push([corners[i], corners[i + 1], corners[i + 2]] as unknown as Place);
    lines.push(...boxLines(places, colourOf(box.color)));
  }
  for (const vector of objects(whole.vectors)) {
    const [from, to] = [placeOf(vector.start), placeOf(vector.end)];
    if (from !== null && to !== null) lines.push({ from, to, colour: "" });
  }
  return { points, lines, unit: "point" };
}

/** The edges of a box with corners in any order: unlike diagonals, no two of them share their middle. */
export function boxLines(corners: readonly Place[], colour: string): SceneLine[] {
  const pairs: { from: Place; to: Place; middle: string }[] = [];
  const seen = new Map<string, number>();
  const size = Math.max(1e-9, ...corners.flat().map(Math.abs));
  for (const [i, from] of corners.entries()) {
    for (const to of corners.slice(i + 1)) {
      const middle = from
        .map((part, axis) => Math.round(((part + (to[axis] as number)) / size) * 1e6))
        .join();
      pairs.push({ from, to, middle });
      seen.set(middle, (seen.get(middle) ?? 0) + 1);
    }
  }
  return pairs.filter(({ middle }) => seen.get(middle) === 1).map(({ from, to }) => ({ from, to, colour }));
}

/** The usual colours of elements, as far as they are seen on light and dark. */
const ELEMENTS: Readonly<Record<string, string>> = {
  H: "#b8bec9",
  C: "#6b7280",
  N: "#3b6fe0",
  O: "#e0403b",
  S: "#c9a400",
  P: "#e07b1f",
  F: "#35a852",
  CL: "#35a852",
  BR: "#9c3a2e",
  I: "#7b3fa8",
};

interface Atom {
  readonly at: Place;
  readonly element: string;
}

function atomPoint({ at, element }: Atom): ScenePoint {
  return { at, colour: ELEMENTS[element.toUpperCase()] ?? "#b0679b", radius: element === "H" ? 5 : 8 };
}

function bond(one: Atom | undefined, other: Atom | undefined): SceneLine[] {
  return one && other ? [{ from: one.at, to: other.at, colour: "" }] : [];
}

function pdbOf(text: string): Scene {
  const atoms = new Map<number, Atom>();
  const lines: SceneLine[] = [];
  for (const line of text.split("\n")) {
    if (/^(ATOM {2}|HETATM)/.test(line)) {
      const at = placeOf([line.slice(30, 38), line.slice(38, 46), line.slice(46, 54)]);
      const element =
        line.slice(76, 78).trim() ||
        line
          .slice(12, 16)
          .replace(/[^A-Za-z]/g, "")
          .slice(0, 1);
      if (at !== null) atoms.set(Number(line.slice(6, 11)), { at, element });
    } else if (line.startsWith("CONECT")) {
      const [first, ...others] = (line.slice(6).match(/.{1,5}/g) ?? []).map(Number);
      for (const other of others)
        if (other > (first as number)) lines.push(...bond(atoms.get(first as number), atoms.get(other)));
    }
    if (line.startsWith("ENDMDL")) break; // the first model
  }
  const all = [...atoms.values()];
  return { points: all.map(atomPoint), lines: lines.length > 0 ? lines : nearBonds(all), unit: "atom" };
}

/** Many pairs would be felt. */
const MOST_PAIRED = 3000;
const BOND = 1.9;

function nearBonds(atoms: readonly Atom[]): SceneLine[] {
  if (atoms.length > MOST_PAIRED) return [];
  return atoms.flatMap((one, i) =>
    atoms.slice(i + 1).flatMap((other) => {
      const away = Math.hypot(...one.at.map((part, axis) => part - (other.at[axis] as number)));
      return away < (one.element === "H" || other.element === "H" ? 1.25 : BOND) ? bond(one, other) : [];
    }),
  );
}

/** The first molecule of a MOL (V2000) file. */
function molOf(text: string): Scene | null {
  const lines = text.split("\n");
  const counts = lines.findIndex((line) => line.includes("V2000"));
  if (counts < 0) return null;
  const head = lines[counts] as string;
  const [numAtoms, numBonds] = [Number(head.slice(0, 3)), Number(head.slice(3, 6))];
  const atoms = lines.slice(counts + 1, counts + 1 + numAtoms).flatMap((line): Atom[] => {
    const at = placeOf([line.slice(0, 10), line.slice(10, 20), line.slice(20, 30)]);
    return at === null ? [] : [{ at, element: line.slice(31, 34).trim() }];
  });
  const bonds = lines.slice(counts + 1 + numAtoms, counts + 1 + numAtoms + numBonds);
  return {
    points: atoms.map(atomPoint),
    lines: bonds.flatMap((line) =>
      bond(atoms[Number(line.slice(0, 3)) - 1], atoms[Number(line.slice(3, 6)) - 1]),
    ),
    unit: "atom",
  };
}

function rows(value: unknown): readonly unknown[][] {
  return Array.isArray(value) ? value.filter(Array.isArray) : [];
}

function objects(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}

function placeOf(value: unknown): Place | null {
  if (!Array.isArray(value) || value.length < 3) return null;
  const place = value.slice(0, 3).map((part) => (part === "" || part === null ? Number.NaN : Number(part)));
  return place.every(Number.isFinite) ? (place as unknown as Place) : null;
}

/** Boxes have shares or bytes. */
function colourOf(value: unknown): string {
  if (!Array.isArray(value) || value.length < 3) return "";
  const parts = value.slice(0, 3).map(Number);
  const scale = parts.every((part) => part <= 1) ? 255 : 1;
  return `rgb(${parts.map((part) => Math.round(part * scale)).join(" ")})`;
}
