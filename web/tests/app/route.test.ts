import { describe, expect, it } from "vitest";
import { type Page, pageOf, pathOf } from "../../src/app/route";
import { nextOf } from "../../src/app/signin";

const PAGES: [string, Page][] = [
  ["/", { name: "projects" }],
  ["/signin", { name: "signin" }],
  ["/benchmarks", { name: "benchmarks" }],
  ["/settings", { name: "settings", tab: "" }],
  ["/settings/keys", { name: "settings", tab: "keys" }],
  ["/ada/vision", { name: "workspace", entity: "ada", project: "vision" }],
  ["/ada/vision/compare", { name: "compare", entity: "ada", project: "vision" }],
  ["/ada/vision/views/by%20host", { name: "view", entity: "ada", project: "vision", view: "by host" }],
  ["/ada/vision/runs/x1", { name: "run", entity: "ada", project: "vision", run: "x1", tab: "" }],
  [
    "/ada/vision/runs/x1/console",
    { name: "run", entity: "ada", project: "vision", run: "x1", tab: "console" },
  ],
  ["/%C3%A4%20b/c%2Fd", { name: "workspace", entity: "ä b", project: "c/d" }],
  ["/~settings/keys", { name: "workspace", entity: "settings", project: "keys" }],
  ["/~~x/y", { name: "workspace", entity: "~x", project: "y" }],
];

describe("paths and pages", () => {
  it.each(PAGES)("%s", (path, page) => {
    expect(pageOf(path)).toEqual(page);
    expect(pathOf(page)).toBe(path.replace("~~", encodeURIComponent("~~")));
  });

  it.each([
    "/one",
    "/a/b/nothing",
    "/a/b/runs",
    "/a/b/runs/c/d/e",
    "/a/b/compare/x",
    "/a/b/views",
    "/a/b/views/c/d",
    "/%E0%A4%A",
  ])("%s is none", (path) => {
    expect(pageOf(path)).toEqual({ name: "missing", path });
  });

  it("does not care for a slash at the end", () => {
    expect(pageOf("/ada/vision/")).toEqual(pageOf("/ada/vision"));
  });
});

describe("where to go after signing in", () => {
  it.each([
    ["?next=%2Fada%2Fvision%3Fx%3D1", "/ada/vision?x=1"],
    ["", "/"],
    ["?next=https%3A%2F%2Fevil.example", "/"],
    ["?next=%2F%2Fevil.example", "/"],
    ["?next=%2F%5Cevil.example", "/"],
    ["?next=%2Fsignin", "/"],
  ])("%s", (search, next) => {
    expect(nextOf(search)).toBe(next);
  });
});
