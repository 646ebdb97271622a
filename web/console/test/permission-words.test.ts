import { expect, test } from "vitest";
import { inLine, inputOf, parsed, sourceOf } from "../src/pages/permissions/words.ts";

const tool = (input_schema: Record<string, unknown>) => ({
  definition: { name: "t", description: "", input_schema },
  source: "platform",
  requires_permission: false,
});

test("an input begins with what the tool has to be given", () => {
  const properties = {
    path: { type: "string" },
    n: { type: "integer", default: 3 },
    kind: { enum: ["a", "b"] },
  };
  expect(JSON.parse(inputOf(tool({ properties, required: ["path", "n", "kind"] })))).toEqual({
    ...{ path: "", n: 3, kind: "a" },
  });
  expect(inputOf(tool({ type: "object" }))).toBe("{}");
});

test("only an object is an input", () => {
  expect(parsed('{"a": 1}')).toEqual({ input: { a: 1 } });
  expect(parsed("")).toEqual({ input: {} });
  expect(parsed("[1]")).toHaveProperty("error");
  expect(parsed("null")).toHaveProperty("error");
  expect(parsed("{")).toHaveProperty("error");
});

test("a decision says where it comes from, and which one it was", () => {
  expect(sourceOf("rule:no-push")).toEqual(["a rule of the operator", "no-push"]);
  expect(sourceOf("grant:a:b")).toEqual(["a grant of yours", "a:b"]);
  expect(sourceOf("judgement")).toEqual(["the engine's own judgement", ""]);
  expect(sourceOf("elsewhere")).toEqual(["elsewhere", ""]);
});

test("a call is told by what matters in it", () => {
  expect(inLine({ command: "ls", path: "x" })).toBe("ls");
  expect(inLine({ url: "http://a" })).toBe("http://a");
  expect(inLine({ a: 1 })).toBe('{"a":1}');
});
