import { describe, expect, it } from "vitest";
import { safeHref, visible } from "../src/lib/safe.ts";

describe("safeHref", () => {
  it.each(["https://a.b/c", "HTTP://a", "mailto:a@b", " https://a "])("lets %s through", (href) => {
    expect(safeHref(href)).toBe(href.trim());
  });

  it.each([
    "javascript:alert(1)",
    " JavaScript:x",
    "data:text/html,x",
    "vbscript:x",
    "//a.b",
    "/tasks",
    "\u0001javascript:x",
    "file:///etc/passwd",
    "blob:https://a",
  ])("stops %j", (href) => expect(safeHref(href)).toBeNull());
});

describe("visible", () => {
  it("writes out what cannot be seen, and nothing else", () => {
    expect(visible("a\u202eb\u200bc\u0007\u{e0041}")).toBe("a⟨U+202E⟩b⟨U+200B⟩c⟨U+0007⟩⟨U+E0041⟩");
    expect(visible("tab\tline\nשלום 👩‍💻 é")).toBe("tab\tline\nשלום 👩‍💻 é");
  });
});
