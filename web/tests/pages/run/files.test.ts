import { describe, expect, it } from "vitest";
import { type LineageNode, layout, nextNode } from "../../../src/pages/run/artifacts/lineage";
import { beside } from "../../../src/pages/run/charts/run-workspace";
import { fileRows, folderOf, previewKind } from "../../../src/pages/run/files/paths";
import { samplePanels } from "../../../src/series/samples";

describe("files", () => {
  const files = ["media/b10.png", "media/b9.png", "notes.txt", "media/deep/x"].map((path) => ({
    path,
    size: 10,
  }));
  it("become folders with sizes", () => {
    const root = folderOf(files);
    expect([root.size, root.count]).toEqual([40, 4]);
    expect(root.folders[0]).toMatchObject({ name: "media", path: "media", size: 30, count: 3 });
    const rows = fileRows(root, () => true).map((row) =>
      row.kind === "file" ? [row.name, row.depth] : [row.folder.name, row.depth],
    );
    expect(rows).toEqual([
      ["media", 0],
      ["deep", 1],
      ["x", 2],
      ["b9.png", 1],
      ["b10.png", 1],
      ["notes.txt", 0],
    ]);
    expect(fileRows(root, () => false)).toHaveLength(2);
  });
  it("are shown by their kind", () => {
    expect(["a.PNG", "x/y.html", "m.pt", "Makefile"].map(previewKind)).toEqual([
      "image",
      "html",
      "binary",
      "text",
    ]);
  });
});

describe("lineage", () => {
  const node = (id: string, column: number): LineageNode => ({
    id,
    kind: "run",
    label: id,
    note: "",
    column,
  });
  const picture = layout(
    [node("run", 0), node("a", -1), node("b", -1), node("out", 1), node("lone", -2), node("from-b", -2)],
    [
      { from: "a", to: "run" },
      { from: "b", to: "run" },
      { from: "run", to: "out" },
      { from: "from-b", to: "b" },
      { from: "lone", to: "a" },
      { from: "gone", to: "run" },
    ],
  );
  const at = (id: string) => picture.nodes.find((one) => one.id === id);
  it("goes from left to right", () => {
    for (const { edge } of picture.edges) {
      expect(at(edge.from)?.x as number).toBeLessThan(at(edge.to)?.x as number);
    }
    expect(picture.edges).toHaveLength(5);
  });
  it("puts nothing over anything else, nor outside", () => {
    const places = new Set(picture.nodes.map((one) => `${one.x} ${one.y}`));
    expect(places.size).toBe(picture.nodes.length);
    for (const one of picture.nodes) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.y).toBeGreaterThanOrEqual(0);
      expect(one.y + 44).toBeLessThanOrEqual(picture.height);
      expect(one.x + 190).toBeLessThanOrEqual(picture.width);
    }
  });
  it("keeps what is joined on the same side", () => {
    const isAbove = (one: string, other: string): boolean =>
      (at(one)?.y as number) < (at(other)?.y as number);
    expect(isAbove("a", "b")).toBe(isAbove("lone", "from-b"));
  });
  it("is walked with arrows", () => {
    expect(nextNode(picture.nodes, "run", "ArrowRight")).toBe("out");
    expect(nextNode(picture.nodes, "out", "ArrowRight")).toBeNull();
    expect(["a", "b"]).toContain(nextNode(picture.nodes, "run", "ArrowLeft"));
    const [upper, lower] = (at("a")?.y as number) < (at("b")?.y as number) ? ["a", "b"] : ["b", "a"];
    expect(nextNode(picture.nodes, upper as string, "ArrowDown")).toBe(lower);
  });
});

describe("system panels", () => {
  it("puts what belongs together on one chart", () => {
    const panels = samplePanels([
      "system.gpu.0.gpu",
      "system.gpu.1.gpu",
      "system.cpu_percent",
      "system.cpu",
      "system.disk./data.x.usagePercent",
      "system.network.sent_MBps",
      "system.network.recv_MBps",
      "system.something.new",
    ]);
    expect(panels.map((panel) => [panel.section, panel.title, [...panel.lines.values()]])).toEqual([
      ["GPU", "GPU busy, %", ["GPU 0", "GPU 1"]],
      ["CPU", "CPU, %", ["this run", "machine"]],
      ["Disk", "Disk in use, %", ["/data.x"]],
      ["Network", "Network, MiB/s", ["received", "sent"]],
      ["Other", "something.new", ["something.new"]],
    ]);
  });
});

describe("beside", () => {
  it("is what the nearest point has, also where points go back", () => {
    const [steps, seconds] = [Float64Array.of(0, 10, 20), Float64Array.of(100, 200, 300)];
    expect([0, 4, 6, 20, 99].map((step) => beside(steps, seconds, step))).toEqual([100, 100, 200, 300, 300]);
    expect(beside(Float64Array.of(5, Number.NaN, 1), steps, 1.2)).toBe(20);
    expect(beside(new Float64Array(0), new Float64Array(0), 3)).toBeNull();
  });
});
