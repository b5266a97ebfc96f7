// Where runs and artifact versions stand in a picture of what came from what: columns from left to right, each item
// near those that it is joined with. Pure.

export interface LineageNode {
  /** "run:entity/project/id" or "version:id". */
  readonly id: string;
  readonly kind: "run" | "version";
  readonly label: string;
  readonly note: string;
  /** The column: 0 is the run of the page, what it came from is below zero. */
  readonly column: number;
}

export interface LineageEdge {
  readonly from: string;
  readonly to: string;
}

export interface Placed extends LineageNode {
  readonly x: number;
  readonly y: number;
}

export interface Picture {
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly edge: LineageEdge; readonly path: string }[];
  readonly width: number;
  readonly height: number;
}

export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 44;
const ACROSS = NODE_WIDTH + 56;
const DOWN = NODE_HEIGHT + 14;
const MARGIN = 8;
const ROUNDS = 4;

/** Lay the nodes out; edges to nodes that are not there are left out. */
export function layout(nodes: readonly LineageNode[], edges: readonly LineageEdge[]): Picture {
  const columns = new Map<number, LineageNode[]>();
  for (const node of nodes) columns.set(node.column, [...(columns.get(node.column) ?? []), node]);
  const order = [...columns.keys()].sort((a, b) => a - b);
  const known = new Set(nodes.map((node) => node.id));
  const joined = edges.filter((edge) => known.has(edge.from) && known.has(edge.to));
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of joined) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const place = new Map<string, number>();
  const settle = (column: readonly LineageNode[]): void => {
    column.forEach((node, index) => {
      place.set(node.id, index - (column.length - 1) / 2);
    });
  };
  for (const column of columns.values()) settle(column);
  // Each node moves towards the middle of those that it is joined with, to and fro, until lines cross little.
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? order : [...order].reverse()) {
      const column = columns.get(name) ?? [];
      const middle = (node: LineageNode): number => {
        const some = neighbours.get(node.id) ?? [];
        if (some.length === 0) return place.get(node.id) ?? 0;
        return some.reduce((sum, id) => sum + (place.get(id) ?? 0), 0) / some.length;
      };
      const wanted = new Map(column.map((node) => [node.id, middle(node)]));
      column.sort((a, b) => (wanted.get(a.id) ?? 0) - (wanted.get(b.id) ?? 0));
      settle(column);
    }
  }
  const tallest = Math.max(1, ...[...columns.values()].map((column) => column.length));
  const height = tallest * DOWN - (DOWN - NODE_HEIGHT) + 2 * MARGIN;
  const placed = new Map<string, Placed>();
  order.forEach((name, index) => {
    for (const node of columns.get(name) ?? []) {
      const y = height / 2 + (place.get(node.id) ?? 0) * DOWN - NODE_HEIGHT / 2;
      placed.set(node.id, { ...node, x: MARGIN + index * ACROSS, y });
    }
  });
  return {
    nodes: [...placed.values()],
    edges: joined.map((edge) => ({
      edge,
      path: curve(placed.get(edge.from) as Placed, placed.get(edge.to) as Placed),
    })),
    width: Math.max(1, order.length) * ACROSS - (ACROSS - NODE_WIDTH) + 2 * MARGIN,
    height,
  };
}

function curve(from: Placed, to: Placed): string {
  const x1 = from.x + NODE_WIDTH;
  const y1 = from.y + NODE_HEIGHT / 2;
  const y2 = to.y + NODE_HEIGHT / 2;
  const bend = Math.max(24, (to.x - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${to.x - bend} ${y2} ${to.x} ${y2}`;
}

/** Return the node that an arrow key leads to, null where there is none. */
export function nextNode(nodes: readonly Placed[], from: string, key: string): string | null {
  const at = nodes.find((node) => node.id === from);
  if (at === undefined) return nodes[0]?.id ?? null;
  const isAcross = key === "ArrowLeft" || key === "ArrowRight";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  let best: { id: string; far: number } | null = null;
  for (const node of nodes) {
    const away = isAcross ? (node.x - at.x) * sign : (node.y - at.y) * sign;
    const aside = isAcross ? Math.abs(node.y - at.y) : Math.abs(node.x - at.x);
    if (away <= 0 || (!isAcross && aside > 0)) continue;
    const far = away + aside / 10;
    if (best === null || far < best.far) best = { id: node.id, far };
  }
  return best?.id ?? null;
}
