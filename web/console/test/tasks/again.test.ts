import { expect, test } from "vitest";
import { wishOf } from "../../src/pages/tasks/again-view.tsx";
import { linesOf } from "../../src/pages/tasks/answer-diff.tsx";
import { change } from "../../src/pages/tasks/arms.tsx";
import { nearest, quoted, turnsOf } from "../../src/pages/tasks/places.ts";
import type { Step, TurnLine } from "../../src/pages/tasks/steps.ts";

const model = (seq: number, more: object = {}): Step =>
  ({ kind: "model", seq, purpose: "step", discarded: null, usage: {}, ...more }) as Step;
const tool = (seq: number, name: string): Step => ({ kind: "tool", seq, tool: name }) as Step;
const turn = (seq: number, phase: string, ...steps: Step[]): TurnLine =>
  ({ id: `t${seq}`, seq, said: "Look", phase, steps }) as TurnLine;

const turns = turnsOf([
  turn(1, "completed", model(4), tool(7, "glob"), tool(8, "glob"), model(12)),
  turn(20, "completed", model(22, { discarded: "cut off" }), model(25), model(30, { purpose: "verify" })),
  turn(40, "started", model(42)),
]);

test("a turn that has ended can be run again from each of its model calls", () => {
  expect(turns.map(({ id, places }) => [id, places.map(({ seq }) => seq)])).toEqual([
    ["t20", [25]],
    ["t1", [4, 12]],
  ]);
  expect(turns[1]?.places.map(({ title }) => title)).toEqual([
    "From the beginning",
    "Model call 2, after glob",
  ]);
});

test("a place on the thread means the model call at or before it, in its own turn", () => {
  expect(nearest(turns, 8)?.seq).toBe(4);
  expect(nearest(turns, 12)?.seq).toBe(12);
  expect(nearest(turns, 20)?.seq).toBe(25);
  expect(nearest(turns, null)?.seq).toBe(25);
  expect(nearest([], 3)).toBeNull();
});

test("only what was filled in is different", () => {
  expect(wishOf({ model: "", agent: "", instructions: "  ", limit: "" })).toEqual({});
  expect(wishOf({ model: "m", agent: "a", instructions: "Be short.", limit: "0.5" })).toEqual({
    ...{ model: "m", agent: "a", instructions: "Be short.", max_usd: 0.5 },
  });
});

test("the lines of a difference, without its heads", () => {
  const lines = linesOf(
    "--- recorded\n+++ replayed\n@@ -1 +1 @@\n-Three files.\n+Two files.\n same\n--- rule",
  );
  expect(lines.map(({ kind }) => kind)).toEqual(["drop", "add", "same", "drop"]);
  expect(lines[0]?.text).toBe("Three files.");
  expect(lines[3]?.text).toBe("-- rule");
});

test("how much more or less it is", () => {
  expect([change(2, 1), change(1, 3), change(1, 1), change(0, 1)]).toEqual(["-50 %", "+200 %", "–", "new"]);
});

test("a command survives any id", () => {
  expect(quoted("task-1/a")).toBe("task-1/a");
  expect(quoted("it's; rm")).toBe("'it'\\''s; rm'");
  expect(quoted("-x")).toBe("'-x'");
});
