import { describe, expect, it } from "vitest";
import { cellOf, columnOf, deltaText, numberIn } from "../../../src/pages/workspace/data/column";
import type { Digest } from "../../../src/server/types";
import { runOf } from "./runs";

const digest: Digest = {
  count: 100,
  min: 0.25,
  max: 3,
  min_step: 4200,
  max_step: 0,
  mean: 1,
  first: 3,
  last: "NaN",
  first_step: 0,
  last_step: 5000,
  nan: 1,
  posinf: 0,
  neginf: 0,
};
const now = Date.UTC(2026, 0, 2);

function text(column: string, values: Record<string, unknown>, found?: Digest): string {
  return cellOf(columnOf(column), runOf("r", { values }), found, now).text;
}

describe("columns", () => {
  it("are fields, or figures of a metric with where they were reached", () => {
    expect(columnOf("config.lr")).toMatchObject({ title: "lr", field: "config.lr", sort: "config.lr" });
    expect(columnOf("min(train/loss)")).toMatchObject({
      figure: "min",
      key: "train/loss",
      field: null,
      sort: "min(train/loss)",
    });
    expect(text("min(loss)", {}, digest)).toBe("0.25 @ 4,200");
    expect(text("last(loss)", {}, digest)).toBe("NaN");
    expect(text("min(loss)", {})).toBe("");
  });

  it("show values as people read them", () => {
    expect(text("config.lr", { "config.lr": 0.00030001 })).toBe("0.0003");
    expect(text("config.name", { "config.name": null })).toBe("");
    expect(text("tags", { tags: ["a", "b"] })).toBe("a, b");
    expect(text("runtime", { runtime: 3700 })).toBe("1h 02m");
    expect(text("created_at", { created_at: "2026-01-01T22:00:00Z" })).toBe("2 h");
    expect(text("config.flag", { "config.flag": true })).toBe("true");
    expect(text("summary.loss", { "summary.loss": "NaN" })).toBe("NaN");
    expect(text("summary.loss", { "summary.loss": { min: 0.5, last: 0.75 } })).toBe("0.75");
    expect(text("summary.loss", { "summary.loss": { min: 0.5 } })).toBe("0.5");
    expect(text("config.optimizer", { "config.optimizer": { lr: 1 } })).toBe('{"lr":1}');
  });

  it("are compared with a baseline", () => {
    expect(deltaText(1.1, 1)).toBe("+0.1 (+10 %)");
    expect(deltaText(1, 0)).toBe("+1");
    expect(numberIn("Infinity")).toBe(Number.POSITIVE_INFINITY);
    expect(numberIn("1")).toBeNull();
  });
});
