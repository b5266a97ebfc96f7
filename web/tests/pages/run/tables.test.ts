import { describe, expect, it } from "vitest";
import { filtersOf, textOfFilters } from "../../../src/pages/run/tables/address";
import { csvOf } from "../../../src/pages/run/tables/csv";
import { decodeMsgpack, MsgpackError } from "../../../src/pages/run/tables/msgpack";
import { groupsOf, meanOf, rowsOf, testOf } from "../../../src/pages/run/tables/shape";
import { cellText, joined, tableOf } from "../../../src/pages/run/tables/table";

const hex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

describe("decodeMsgpack", () => {
  it("reads every kind of value", () => {
    // made with msgspec.msgpack.encode
    expect(decodeMsgpack(hex("c0"))).toBeNull();
    expect(decodeMsgpack(hex("93c3c2ff"))).toEqual([true, false, -1]);
    expect(decodeMsgpack(hex("83a161cd0100a162d1ff00a163cb3ff8000000000000"))).toEqual({
      a: 256,
      b: -256,
      c: 1.5,
    });
    expect(decodeMsgpack(hex("c403010203"))).toEqual(hex("010203"));
    expect(decodeMsgpack(hex("cf0020000000000001"))).toBe(9007199254740993n);
    expect(decodeMsgpack(hex("d3fffffffffffffffe"))).toBe(-2);
    expect(decodeMsgpack(hex("d902c3a4"))).toBe("ä");
  });
  it("says that bytes are damaged", () => {
    for (const bad of ["a5", "93c3", "c1", "c0c0"])
      expect(() => decodeMsgpack(hex(bad))).toThrow(MsgpackError);
  });
});

const base64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const RECORD = {
  _type: "table",
  columns: ["id", "name", "score", "ok"],
  types: ["int", "string", "float", "boolean"],
  nrows: 4,
  data: [
    base64(Int16Array.of(300, -2, 10, 2).buffer),
    ["cat", "dog10", "dog9", null],
    base64(Float64Array.of(0.5, Number.NaN, 2, -1).buffer),
    base64(Uint8Array.of(1, 0, 1, 1).buffer),
  ],
};

describe("tables", () => {
  const table = tableOf(RECORD);
  const rows = (filters = {}, search = "", sort: Parameters<typeof rowsOf>[3] = null): number[] =>
    Array.from(rowsOf(table, filters, search, sort));

  it("come from packed columns and lists", () => {
    expect(Array.from(table.columns[0]?.cells ?? [])).toEqual([300, -2, 10, 2]);
    expect(table.columns[3]?.cells).toEqual([true, false, true, true]);
    const lists = tableOf({
      ...RECORD,
      data: [
        [1, null],
        ["a", "b"],
        ["NaN", 2],
        [true, null],
      ],
      nrows: 2,
    });
    expect(lists.columns[0]?.cells).toEqual([1, null]);
    expect(lists.columns[2]?.cells).toEqual([Number.NaN, 2]);
  });
  it("are joined from increments", () => {
    const both = joined([table, table]);
    expect(both.numRows).toBe(8);
    expect(Array.from(both.columns[0]?.cells ?? [])).toEqual([300, -2, 10, 2, 300, -2, 10, 2]);
  });
  it("are sorted by number and by name, missing cells last either way", () => {
    expect(rows({}, "", { column: "id", isDown: false })).toEqual([1, 3, 2, 0]);
    expect(rows({}, "", { column: "score", isDown: false })).toEqual([3, 0, 2, 1]);
    expect(rows({}, "", { column: "score", isDown: true })).toEqual([2, 0, 3, 1]);
    expect(rows({}, "", { column: "name", isDown: false })).toEqual([0, 2, 1, 3]);
    expect(rows({}, "", { column: "name", isDown: true })).toEqual([1, 2, 0, 3]);
  });
  it("are filtered by column and searched", () => {
    expect(rows({ score: "> 0" })).toEqual([0, 2]);
    expect(rows({ score: "0..1" })).toEqual([0]);
    expect(rows({ score: "= nan" })).toEqual([1]);
    expect(rows({ name: "dog" })).toEqual([1, 2]);
    expect(rows({ name: "!dog" })).toEqual([0, 3]);
    expect(rows({ name: "= DOG9" })).toEqual([2]);
    expect(rows({ name: "/^c|9$/" })).toEqual([0, 2]);
    expect(rows({ id: "10" })).toEqual([2]);
    expect(rows({ ok: "true", score: "> 0" })).toEqual([0, 2]);
    expect(rows({}, "DOG")).toEqual([1, 2]);
    expect(rows({ gone: "x" })).toEqual([0, 1, 2, 3]);
  });
  it("are not filtered by what is half typed", () => {
    for (const text of [">", "/(/", "= "]) expect(testOf(text.trim(), true)).toBeNull();
  });
  it("are grouped, the largest group first", () => {
    const groups = groupsOf(table, rowsOf(table, {}, "", null), "ok");
    expect(groups.map((group) => [group.name, Array.from(group.rows)])).toEqual([
      ["true", [0, 2, 3]],
      ["false", [1]],
    ]);
    expect(meanOf(table.columns[2]?.cells ?? [], Uint32Array.of(0, 1, 2))).toBe(1.25);
    expect(meanOf(table.columns[3]?.cells ?? [], Uint32Array.of(0, 1))).toBe(0.5);
    expect(meanOf(table.columns[1]?.cells ?? [], Uint32Array.of(0))).toBeNull();
  });
  it("become CSV with quotes where they are needed", () => {
    const odd = tableOf({
      columns: ["a,b"],
      types: ["string"],
      nrows: 2,
      data: [['say "x"', "line\nbreak"]],
    });
    expect(csvOf(odd, Uint32Array.of(0, 1))).toBe('"a,b"\r\n"say ""x"""\r\n"line\nbreak"\r\n');
    expect(cellText({ _type: "image-file", path: "p.png", caption: "" })).toBe("p.png");
  });
  it("keep their filters in the address", () => {
    for (const filters of [{}, { score: "> 0.5" }, { "a:b;c\\": "x;y:z", d: "\\" }]) {
      expect(filtersOf(textOfFilters(filters))).toEqual(filters);
    }
  });
});
