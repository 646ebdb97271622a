import { expect, test } from "vitest";
import { changeWords } from "../src/pages/work/change-words.ts";
import { lines } from "../src/pages/work/graph-view.tsx";
import { drawn } from "../src/pages/work/layers.ts";
import { argsIn, exampleOf, phases } from "../src/pages/work/runs.ts";
import { type Change, type Item, stateOf, workOf } from "../src/pages/work/work.ts";

const item = (id: string, blocked_by: string[] = [], waiting_for = blocked_by) =>
  ({ item_id: id, subject: id, status: "pending", ready: false, blocked_by, waiting_for }) as unknown as Item;

test("whatever waits stands to the right of all it waits for, and nothing stands on anything else", () => {
  const graph = drawn([item("d", ["b", "c"]), item("b", ["a"]), item("c", ["a"]), item("a"), item("alone")]);
  const layer = Object.fromEntries(graph.nodes.map((node) => [node.id, node.layer]));
  expect(layer).toEqual({ a: 0, b: 1, c: 1, d: 2 });
  expect(new Set(graph.nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
  expect(graph.edges.map(({ from, to }) => `${from.id}>${to.id}`).toSorted()).toEqual([
    "a>b",
    "a>c",
    "b>d",
    "c>d",
  ]);
});

test("what is waited for and is not there is drawn as gone; a circle ends", () => {
  const graph = drawn([item("b", ["gone"]), item("x", ["y"]), item("y", ["x"])]);
  expect(graph.nodes.find(({ id }) => id === "gone")?.item).toBeNull();
  expect(graph.nodes).toHaveLength(4);
});

test("an edge is open as long as what is waited for is not done", () => {
  const [open, done] = drawn([item("b", ["a"]), item("c", ["a"], []), item("a")]).edges;
  expect([open?.open, done?.open]).toEqual([true, false]);
});

test("a long name takes two lines and no more", () => {
  expect(lines("short", 10)).toEqual(["short", ""]);
  expect(lines("one two three four", 10)).toEqual(["one two", "three four"]);
  expect(lines("x".repeat(40), 10)).toEqual(["x".repeat(10), `${"x".repeat(9)}…`]);
});

test("ready and blocked are worked out; the rest is what it is", () => {
  expect(stateOf({ status: "pending", ready: true })).toBe("ready");
  expect(stateOf({ status: "pending", ready: false })).toBe("blocked");
  expect(stateOf({ status: "completed", ready: false })).toBe("completed");
});

test("addresses hold boards and items of any name", () => {
  expect(workOf({})).toBe("/work");
  expect(workOf({ board: "team/a b", item: "x&y", view: "graph" })).toBe(
    "/work/graph?board=team%2Fa+b&item=x%26y",
  );
});

test("a change is told in words", () => {
  const change = (action: Change["action"], detail: Change["detail"]) =>
    changeWords({ action, by: "ada", detail } as Change);
  expect(change("claimed", { owner: "ada" }).what).toBe("took it");
  expect(change("claimed", { owner: "ada", source: "auto" }).what).toBe("took it by itself");
  expect(change("completed", { unblocked: ["x", "y"] }).what).toBe("finished it; 2 items became ready");
  expect(change("linked", { added: ["x"], removed: [] }).what).toBe("let it wait for 1 more item");
  expect(change("updated", { before: { worktree: null } }).what).toBe("changed its working directory");
  expect(change("updated", { before: { subject: "x" } }).what).toBe("changed what it says");
  expect(change("released", { reason: "no key" })).toEqual({ what: "gave it back", why: "no key" });
});

test("arguments of a workflow: an object or what is wrong with it", () => {
  expect(argsIn("")).toEqual({ args: {}, problem: null });
  expect(argsIn('{"a": 1}').args).toEqual({ a: 1 });
  expect(argsIn("[1]").problem).toMatch(/object/);
  expect(argsIn("{").problem).toMatch(/not JSON/);
  expect(JSON.parse(exampleOf({ properties: { files: { type: "array" }, n: { default: 3 } } }))).toEqual({
    files: [],
    n: 3,
  });
});

test("calls stand under their phases in the order in which these were met", () => {
  const call = (phase: string, call_key: string) => ({ phase, call_key }) as never;
  const found = phases([call("Review", "1"), call("Sum up", "2"), call("Review", "3")]);
  expect(found.map(([phase, calls]) => [phase, calls.length])).toEqual([
    ["Review", 2],
    ["Sum up", 1],
  ]);
});
