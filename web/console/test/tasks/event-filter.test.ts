import { expect, test } from "vitest";
import { settled } from "../../src/pages/tasks/compare.tsx";
import { counted, filtered, gist } from "../../src/pages/tasks/event-filter.ts";
import { said, started, thread, usage } from "./events.ts";

const events = thread([started, said("Where is the Key?"), usage(1), usage(2)]);

test("events are counted by their kind", () => {
  expect(counted(events)).toEqual([
    ["thread_lifecycle", 1],
    ["usage", 2],
    ["user_message", 1],
  ]);
});

test("events are found by kind and by any text in them, large or small", () => {
  expect(filtered(events, "usage", "").map(({ seq }) => seq)).toEqual([3, 4]);
  expect(filtered(events, "", "the key").map(({ seq }) => seq)).toEqual([2]);
  expect(filtered(events, "usage", "the key")).toEqual([]);
});

test("a line says what is in an event beyond its frame", () => {
  expect(gist(events[0] as never)).toBe("phase: started");
});

const calls = [91, 69, 45].map((call) => ({ call })) as never;

test("what was not chosen is the newest call and the one before", () => {
  expect(settled(calls, { from: null, to: null })).toEqual({ from: 69, to: 91 });
  expect(settled(calls, { from: null, to: 69 })).toEqual({ from: 45, to: 69 });
  expect(settled(calls, { from: 45, to: null })).toEqual({ from: 45, to: 91 });
  expect(settled([{ call: 5 }] as never, { from: null, to: null })).toEqual({ from: null, to: 5 });
});
