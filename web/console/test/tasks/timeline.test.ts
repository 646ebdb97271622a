import type { AsterEvent } from "@aster/client";
import { describe, expect, test } from "vitest";
import { laneOf } from "../../src/pages/tasks/lane.ts";
import { about } from "../../src/pages/tasks/step-words.ts";
import type { TurnLine } from "../../src/pages/tasks/steps.ts";
import { Timeline } from "../../src/pages/tasks/timeline.ts";
import { at, block, manifest, type Part, said, started, thread, usage } from "./events.ts";

function folded(parts: Part[]): TurnLine {
  return foldedEvents(thread(parts));
}

function foldedEvents(events: AsterEvent[]): TurnLine {
  const timeline = new Timeline();
  for (const event of events) timeline.apply(event);
  return timeline.turns[0] as TurnLine;
}

const request: Part = {
  ...{ type: "hitl_request", request_id: "r", kind: "permission", question: "May it?", at: 200 },
};

describe("the time-line", () => {
  test("a model call is one step with its tokens, its time and its manifest", () => {
    const turn = folded([
      started,
      said("hi"),
      block("hello"),
      usage(1, { duration_ms: 80, at: 100 }),
      manifest(1),
    ]);
    expect(turn).toMatchObject({ said: "hi", calls: 1, input: 100, cached: 40, output: 10, cost: 0.5 });
    expect(turn.steps).toHaveLength(1);
    expect(turn.steps[0]).toMatchObject({
      kind: "model",
      from: at(20),
      to: at(100),
      call: 5,
      model: "small",
    });
    expect(about(turn.steps[0] as never)).toEqual({ name: "Model call 1", gist: "hello", failed: false });
  });

  test("a tool runs from its call to its result; a second attempt is a step of its own", () => {
    const call = { type: "tool_call", tool: "bash", tool_call_id: "c", step: 1, effect: "pure" } as const;
    const turn = folded([
      started,
      { ...call, input: { command: "ls" }, idempotency_key: "k", at: 10 },
      { ...call, input: { command: "ls" }, idempotency_key: "k", attempt: 2, at: 20 },
      {
        type: "tool_result",
        tool: "bash",
        tool_call_id: "c",
        step: 1,
        output: "no",
        error: "failed",
        at: 50,
      },
    ]);
    expect(turn.steps.map(({ from, to }) => [from, to])).toEqual([
      [at(10), at(20)],
      [at(20), at(50)],
    ]);
    expect(about(turn.steps[1] as never)).toEqual({ name: "bash (attempt 2)", gist: "ls", failed: true });
  });

  test("a call that was refused shows what it would have been called with", () => {
    const turn = folded([
      started,
      {
        ...{ type: "content_block_stop", block_index: 0, block_type: "tool_use", step: 1 },
        block: { type: "tool_use", id: "c", name: "bash", input: { command: "rm" } },
      },
      usage(1),
      { type: "tool_result", tool: "bash", tool_call_id: "c", step: 1, output: "refused", error: "denied" },
    ]);
    expect(about(turn.steps[1] as never)).toMatchObject({ name: "bash", gist: "rm", failed: true });
  });

  test("waiting for a person is a step that lasts until the answer", () => {
    const turn = folded([
      started,
      request,
      { type: "hitl_resolved", request_id: "r", answer: "yes", at: 900 },
    ]);
    expect(turn.steps[0]).toMatchObject({ kind: "wait", from: at(200), to: at(900), answer: "yes" });
  });

  test("an answer that was taken back stays, marked, and the next one is another step", () => {
    const turn = folded([
      started,
      { type: "content_block_start", block_index: 0, block_type: "text", step: 1 },
      { type: "recovery", discarded_from_seq: 2, reason: "transport", step: 1 },
      { type: "content_block_start", block_index: 0, block_type: "text", step: 1 },
      usage(1),
    ]);
    expect(turn.steps.map((step) => about(step).gist)).toEqual(["taken back (transport)", "small"]);
  });

  test("what a sub-agent does is not mixed into the turn", () => {
    const inner = thread([usage(1), usage(2)], 10).map((event) => ({ ...event, depth: 1 }) as AsterEvent);
    expect(foldedEvents([...thread([started, usage(1)]), ...inner]).calls).toBe(1);
  });

  test("nothing lasts longer than its turn", () => {
    const turn = folded([started, request, { type: "thread_lifecycle", phase: "cancelled", at: 700 }]);
    expect(turn).toMatchObject({ phase: "cancelled", to: at(700) });
    expect(turn.steps[0]).toMatchObject({ to: at(700), answer: null });
  });
});

describe("a lane", () => {
  const hour = 3_600_000;
  const turn = folded([
    started,
    usage(1, { duration_ms: 200, at: 200 }),
    request,
    { type: "hitl_resolved", request_id: "r", answer: "yes", at: 200 + hour },
    usage(2, { duration_ms: 200, at: 400 + hour }),
    { type: "thread_lifecycle", phase: "completed", at: 400 + hour },
  ]);

  test("an hour of waiting leaves room for the work around it", () => {
    const lane = laneOf(turn, 0);
    expect(lane).toMatchObject({ waited: hour, worked: 400 });
    const [first, wait, second] = turn.steps.map((step) => lane.place(step.from, step.to ?? 0));
    expect(first?.left).toBe(0);
    expect(first?.width).toBeCloseTo(second?.width ?? 0);
    expect(wait?.width).toBeGreaterThan(0.1);
    expect(wait?.width).toBeLessThan(0.2);
    expect((second?.left ?? 0) + (second?.width ?? 0)).toBeCloseTo(1);
  });

  test("a turn that took no time at all still has a lane", () => {
    const lane = laneOf(folded([started]), at(0));
    expect(lane.place(at(0), at(0))).toEqual({ left: 0, width: 0 });
  });
});
