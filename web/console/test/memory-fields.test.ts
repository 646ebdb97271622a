import { expect, test } from "vitest";
import { changed, draftOf, fieldsOf, read, written } from "../src/pages/memory/fields.ts";
import type { Kept } from "../src/pages/memory/memory.ts";

const record = (kind: Kept["kind"], fields: { [name: string]: unknown }): Kept =>
  ({ id: "x-1", kind, text: "", ...fields }) as unknown as Kept;

test("a form that nobody touched changes nothing", () => {
  const lesson = record("lesson", { trigger: "a", mistake: "", domains: ["one", "two"], code_example: null });
  expect(changed(lesson, draftOf(lesson))).toEqual({});
});

test("only what was changed is sent, in the form the engine takes", () => {
  const node = record("node", { name: "Ada", type: "person", attributes: { born: "1815" } });
  const draft = { ...draftOf(node), attributes: "born: 1815\nfield: mathematics: analysis\n\n" };
  expect(changed(node, draft)).toEqual({ attributes: { born: "1815", field: "mathematics: analysis" } });
});

test("numbers are numbers and lines are lists", () => {
  expect(read("0.25", "number")).toBe(0.25);
  expect(read(" one \n\ntwo", "lines")).toEqual(["one", "two"]);
  expect(written({ a: 1, b: "two" })).toBe("a: 1\nb: two");
});

test("every kind but the soul can be corrected", () => {
  for (const kind of ["episode", "fact", "node", "edge", "lesson", "trait", "chunk", "note"] as const)
    expect(fieldsOf(kind).length).toBeGreaterThan(0);
  expect(fieldsOf("soul")).toEqual([]);
});
