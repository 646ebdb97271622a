import type { AsterEvent } from "@aster/client";
import { describe, expect, test } from "vitest";
import { countAt } from "../../src/pages/tasks/recording.ts";
import { Replay } from "../../src/pages/tasks/replay.ts";
import { Thread } from "../../src/thread/thread.ts";
import { block, type Part, said, started, thread, usage } from "./events.ts";

const MOST_MS = 60;

function long(turns: number, deltas: number): AsterEvent[] {
  const events: AsterEvent[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const parts: Part[] = [started, said(`question ${turn}`)];
    for (let n = 0; n < deltas; n += 1)
      parts.push({ type: "text_delta", text: `word${n} `, block_index: 0, step: 1 });
    parts.push(block("whole answer"), usage(1), { type: "thread_lifecycle", phase: "completed" });
    const made = thread(parts, events.length + 1);
    events.push(...made.map((event) => ({ ...event, turn_id: `turn-${turn}` }) as AsterEvent));
  }
  return events;
}

function shown(items: Thread["items"]) {
  return items.map(({ id, rev: _, ...item }) => ({ id, ...item }));
}

describe("the replay", () => {
  const events = long(50, 95);

  test("at every place it is what a fresh fold up to there would be, whichever way one comes", () => {
    const replay = new Replay(events);
    for (const place of [0, 10, 2500, 2400, 5000, 1, 4999]) {
      const fresh = new Thread();
      for (const event of events.slice(0, place)) fresh.apply(event);
      expect(shown(replay.at(place).items)).toEqual(shown(fresh.items));
    }
  });

  test("going back in a thread of 5,000 events takes no time to speak of", () => {
    const replay = new Replay(events);
    replay.at(events.length);
    const begun = performance.now();
    const places = [4900, 4000, 3000, 2000, 1000, 500, 100, 10, 1, 0];
    for (const place of places) replay.at(place);
    expect((performance.now() - begun) / places.length).toBeLessThan(MOST_MS);
  });
});

test("a place on the thread is found although there are holes", () => {
  const events = [1, 2, 7, 9].map((seq) => ({ seq }));
  expect([0, 1, 2, 5, 7, 8, 9, 99].map((seq) => countAt(events, seq))).toEqual([0, 1, 2, 2, 3, 3, 4, 4]);
});
