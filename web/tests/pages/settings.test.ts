import { describe, expect, it } from "vitest";
import { tabsFor } from "../../src/pages/settings";
import type { Identity } from "../../src/pages/settings/documents";
import {
  endOf,
  isAdmin,
  keyState,
  mayChange,
  mayPlace,
  readBytes,
  readDays,
} from "../../src/pages/settings/rights";

function identity(some: Partial<Identity> = {}): Identity {
  return {
    user: "ada",
    email: "",
    entity: "ada",
    entities: { ada: "owner", lab: "member", ops: "viewer" },
    is_admin: false,
    scope: "admin",
    key: "k",
    expires_ns: null,
    ...some,
  };
}

describe("who may do what", () => {
  it("needs the account and the key", () => {
    expect(isAdmin(identity({ is_admin: true }))).toBe(true);
    expect(isAdmin(identity({ is_admin: true, scope: "write" }))).toBe(false);
    expect(isAdmin(identity())).toBe(false);
  });
  it("follows the role in the entity", () => {
    const may = (entity: string, some: Partial<Identity> = {}) => mayChange(identity(some), entity);
    expect([may("ada"), may("lab"), may("ops"), may("other"), may("constructor")]).toEqual([
      "all",
      "words",
      "nothing",
      "nothing",
      "nothing",
    ]);
    expect(may("ada", { scope: "write" })).toBe("words");
    expect(may("ada", { scope: "read" })).toBe("nothing");
    expect(may("other", { is_admin: true })).toBe("all");
    expect(mayPlace(identity(), "lab")).toBe(false);
  });
  it("decides which tabs there are", () => {
    expect(tabsFor(false, null)).toEqual(["look", "storage"]);
    expect(tabsFor(true, null)).toEqual(["look"]);
    expect(tabsFor(true, identity())).not.toContain("users");
    expect(tabsFor(true, identity({ is_admin: true }))).toContain("users");
  });
});

describe("keys", () => {
  it("end", () => {
    expect(keyState({ expires_ns: null, revoked_ns: null }, 5)).toBe("live");
    expect(keyState({ expires_ns: 5e6, revoked_ns: null }, 5)).toBe("expired");
    expect(keyState({ expires_ns: 5e6, revoked_ns: 1 }, 4)).toBe("revoked");
    expect(endOf("never", 0)).toBeNull();
    expect(endOf("30", 1_800_000_000_123)).toBe((1_800_000_000 + 30 * 86_400) * 1e9);
  });
});

describe("amounts", () => {
  it.each([
    ["", null],
    [" 50 GiB ", 50 * 2 ** 30],
    ["1.5g", 1.5 * 2 ** 30],
    ["500 mb", 500 * 2 ** 20],
    ["123", 123],
    ["ten", undefined],
    ["-1", undefined],
    ["5 x", undefined],
  ])("%s is %s bytes", (text, bytes) => expect(readBytes(text)).toBe(bytes));
  it.each([
    ["", null],
    ["30", 30],
    ["0", undefined],
    ["1.5", undefined],
    ["x", undefined],
  ])("%s is %s days", (text, days) => expect(readDays(text)).toBe(days));
});
