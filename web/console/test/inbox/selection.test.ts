import { describe, expect, test } from "vitest";
import { meaning, taken } from "../../src/pages/inbox/keys.ts";
import { moved, stay } from "../../src/pages/inbox/selection.ts";

const press = (key: string, more: Partial<KeyboardEvent> = {}) =>
  meaning({ key, repeat: false, metaKey: false, ctrlKey: false, altKey: false, ...more });

describe("a key", () => {
  test("moves, answers, chooses, writes or opens", () => {
    expect(press("j")).toEqual({ do: "move", by: 1 });
    expect(press("ArrowUp")).toEqual({ do: "move", by: -1 });
    expect(press("y")).toEqual({ do: "answer", name: "yes" });
    expect(press("n")).toEqual({ do: "answer", name: "no" });
    expect(press("3")).toEqual({ do: "choose", nth: 2 });
    expect(press("Enter")).toEqual({ do: "write" });
    expect(press("o")).toEqual({ do: "open" });
    expect(press("x")).toBeNull();
  });

  test("that is held down answers nothing, and one with a modifier is the browser's", () => {
    expect(press("y", { repeat: true })).toBeNull();
    expect(press("j", { repeat: true })).toEqual({ do: "move", by: 1 });
    expect(press("n", { ctrlKey: true })).toBeNull();
  });

  test("belongs to the field that has the focus, and Enter to the button", () => {
    const field = document.createElement("input");
    const button = document.createElement("button");
    const head = document.createElement("button");
    head.dataset.request = "";
    expect(taken(field, { do: "answer", name: "yes" })).toBe(true);
    expect(taken(button, { do: "write" })).toBe(true);
    expect(taken(button, { do: "answer", name: "yes" })).toBe(false);
    expect(taken(head, { do: "write" })).toBe(false);
    expect(taken(document.body, { do: "write" })).toBe(false);
  });
});

describe("the selection", () => {
  test("stays with its request when others come or go", () => {
    expect(stay(["new", "a", "b"], ["a", "b"], "b")).toBe("b");
  });

  test("goes to what took the place of an answered one, or to the last", () => {
    expect(stay(["a", "c"], ["a", "b", "c"], "b")).toBe("c");
    expect(stay(["a", "b"], ["a", "b", "c"], "c")).toBe("b");
    expect(stay([], ["a"], "a")).toBeNull();
    expect(stay(["a"], [], null)).toBe("a");
  });

  test("moves within the list", () => {
    expect(moved(["a", "b"], "a", 1)).toBe("b");
    expect(moved(["a", "b"], "b", 1)).toBe("b");
    expect(moved(["a", "b"], "a", -1)).toBe("a");
    expect(moved([], null, 1)).toBeNull();
  });
});
