import { expect, test } from "vitest";
import { BLANK, bodyOf, copyOf, draftOf } from "../src/pages/agents/drafts.ts";

const agent = { name: "coder", description: "Codes.", source: "stock" as const, system_prompt: "You code." };

test("what is left open is sent as nothing, not as empty words", () => {
  const body = bodyOf({ ...BLANK, description: " Codes. ", prompt: "You code." });
  expect(body).toEqual({
    ...{ description: "Codes.", system_prompt: "You code.", model: null, tools: null, disallowed_tools: [] },
    ...{ permission_mode: null, max_turns: null, skills: [] },
  });
});

test("no tools at all is something else than all tools", () => {
  expect(bodyOf(draftOf(agent)).tools).toBeNull();
  expect(bodyOf({ ...draftOf(agent), narrowed: true }).tools).toEqual([]);
});

test("an agent comes back as it was", () => {
  const whole = {
    ...agent,
    model: "m",
    tools: ["grep"],
    disallowed_tools: ["bash"],
    max_turns: 3,
    skills: ["s"],
  };
  const { name, source, ...body } = { ...whole, permission_mode: "plan" as const };
  expect(bodyOf(draftOf({ name, source, ...body }))).toEqual(body);
});

test("a copy has a name that is free", () => {
  expect(copyOf(agent, []).name).toBe("my-coder");
  expect(copyOf(agent, ["my-coder", "my-coder-2"]).name).toBe("my-coder-3");
});
