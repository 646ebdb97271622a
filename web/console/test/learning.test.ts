import type { AsterEvent, wire } from "@aster/client";
import { expect, test } from "vitest";
import { choices, choicesOfAll, concerned, counted, nights } from "../src/pages/learning/deciding.ts";
import { fits } from "../src/pages/learning/learned.tsx";
import type { Change, Learned, Trial } from "../src/pages/learning/learning.ts";
import { saying, signed } from "../src/pages/learning/learning.ts";
import { reverted } from "../src/pages/learning/night.tsx";
import { noted, type Progress } from "../src/pages/learning/progress.ts";
import { paired } from "../src/pages/learning/trial-view.tsx";
import { drawn } from "../src/pages/learning/utility.tsx";
import { compared } from "../src/pages/learning/words-diff.ts";
import { marksOf } from "../src/ui/day-chart.tsx";

const item = (status: Change["status"]) => ({ status }) as Change;

test("what can be decided follows from how an item stands", () => {
  expect(choices(item("proposed"))).toEqual(["accept", "reject"]);
  expect(choices(item("applied"))).toEqual(["revert"]);
  for (const status of ["refused", "rejected", "reverted", "kept"] as const)
    expect(choices(item(status))).toEqual([]);
  const mixed = { items: [item("applied"), item("refused"), item("applied")] };
  expect(choicesOfAll(mixed)).toEqual(["revert"]);
  expect(concerned(mixed, "revert")).toHaveLength(2);
  expect(counted(mixed)).toEqual([
    ["applied", 2],
    ["refused", 1],
  ]);
});

test("changesets are told night by night, in their order", () => {
  const of = (night: string, name: string) => ({ night, name });
  const found = nights([of("2026-03-02", "b"), of("2026-03-01", "a"), of("2026-03-02", "c")]);
  expect(found.map(([night, all]) => [night, all.map(({ name }) => name)])).toEqual([
    ["2026-03-02", ["b", "c"]],
    ["2026-03-01", ["a"]],
  ]);
});

test("a reverted night says what went and what stayed", () => {
  const all = [{ items: [item("reverted"), item("reverted"), item("refused")] }, { items: [item("kept")] }];
  expect(reverted(all)).toBe("2 changes reverted. 1 change stayed, because of what happened since.");
  expect(reverted([{ items: [item("reverted")] }])).toBe("1 change reverted.");
});

test("two versions of a sentence are held against each other word by word, two different ones are not", () => {
  const found = compared("Ada lives in Porto", "Ada lives in Lisbon");
  expect(found.before.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["Porto"]);
  expect(found.after.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["Lisbon"]);
  const apart = compared("Ada lives in Porto", "Tests are written first");
  expect(apart.after).toEqual([{ text: "Tests are written first", changed: false }]);
  expect(compared("", "new").before).toEqual([]);
});

const EMPTY: Progress = { notes: [], version: 0, learned: 0, error: null };
const note = (seq: number, phase: wire.LearningUpdate["phase"]) =>
  ({ type: "learning_update", seq, phase, work: "batch", timestamp: "", task_id: "" }) as AsterEvent;

test("only what comes after the beginning, and changes something, is a reason to read again", () => {
  const old = noted(EMPTY, note(3, "finished"), 5);
  expect([old.notes.length, old.version]).toEqual([1, 0]);
  const begun = noted(old, note(6, "started"), 5);
  expect(begun.version).toBe(0);
  const done = noted(begun, note(7, "finished"), 5);
  expect([done.version, done.learned]).toEqual([7, 7]);
  const decided = noted(done, note(8, "decided"), 5);
  expect([decided.version, decided.learned]).toEqual([8, 7]);
  expect(decided.notes.map(({ seq }) => seq)).toEqual([8, 7, 6, 3]);
  expect(noted(decided, { type: "usage", seq: 9 } as AsterEvent, 5)).toBe(decided);
});

test("what was learned is found by its words and by the words it rests on", () => {
  const one = {
    quote: "I now live in Lisbon",
    record: { text: "location: Lisbon", receipt: { task_id: "trip" } },
  } as unknown as Learned;
  expect(fits(one, "lisbon LIVE")).toBe(true);
  expect(fits(one, "trip")).toBe(true);
  expect(fits(one, "porto")).toBe(false);
});

test("both runs of a turn stand side by side", () => {
  const run = (turn_id: string, arm: "with" | "without") =>
    ({ turn_id, task_id: `of ${turn_id}`, arm }) as wire.RunOfTrial;
  const found = paired([run("a", "without"), run("b", "with"), run("a", "with")]);
  expect(found.map((pair) => [pair.turn_id, pair.with !== null, pair.without !== null])).toEqual([
    ["a", true, true],
    ["b", true, false],
  ]);
});

test("a trial says when it applies and what is to be done", () => {
  const fields = { trigger: "installing", mistake: "pip", correct_pattern: "Use uv" };
  expect(saying({ fields } as unknown as Trial)).toEqual({ when: "installing", what: "Use uv" });
  expect(saying({ fields: { content: "Ask first" } } as unknown as Trial).what).toBe("Ask first");
  expect([signed(0.5), signed(-0.25), signed(0)]).toEqual(["+0.50", "-0.25", "0.00"]);
});

test("harm hangs below the line, and marks reach both ends in whole numbers", () => {
  const row = {
    ...{ learned: 4, refused: 2, reverted: 1, promoted: 0, retired: 0, uses: 9, helpful: 3, harmful: 1 },
  };
  const day = drawn("2026-03-01", row, "ratings");
  expect([day.up[0]?.value, day.down?.[0]?.value]).toEqual([3, 1]);
  expect(marksOf([day], 1)).toEqual([-1, 0, 1, 2, 3]);
  expect(drawn("2026-03-01", row, "uses").down).toBeUndefined();
  expect(marksOf([{ day: "x", up: [] }], 1)).toEqual([0, 1]);
});
