import type { AsterEvent } from "@aster/client";
import { describe, expect, it } from "vitest";
import type { Agent, Call, Passage } from "../src/thread/items.ts";
import { Thread } from "../src/thread/thread.ts";

const TURN = "turn-1";

/** A thread that has been told these events, numbered from 1. */
function told(...events: Record<string, unknown>[]): Thread {
  const thread = new Thread();
  tell(thread, ...events);
  return thread;
}

function tell(thread: Thread, ...events: Record<string, unknown>[]): void {
  for (const event of events) {
    const base = { task_id: "t", turn_id: TURN, seq: thread.seq + 1, timestamp: "2026-01-01T00:00:00.000Z" };
    thread.apply({ ...base, ...event } as unknown as AsterEvent);
  }
}

const delta = (text: string, step = 1) => ({ type: "text_delta", text, step, block_index: 0 });
const stop = (text: string, step = 1) => ({
  ...{ type: "content_block_stop", step, block_index: 0, block_type: "text" },
  block: { type: "text", text },
});
const call = (id: string, more = {}) => ({
  type: "tool_call",
  tool: "bash",
  tool_call_id: id,
  input: {},
  step: 1,
  ...more,
});
const texts = (thread: Thread) =>
  thread.items.filter((item): item is Passage => item.kind === "passage").map((item) => item.text);

describe("Thread", () => {
  it("ignores what it has seen and takes a finished block for its deltas", () => {
    const thread = told(delta("Hel"), delta("lo"));
    expect(thread.apply({ ...delta("lo"), seq: 2 } as unknown as AsterEvent)).toBe(false);
    tell(thread, stop("Hello!"), delta("Next", 2));
    expect(texts(thread)).toEqual(["Hello!", "Next"]);
  });

  it("keeps in sight what was taken back until as much is written anew", () => {
    const thread = told(
      stop("Kept."),
      delta("One two ", 2),
      delta("three", 2),
      call("c", { type: "content_block_start", block_type: "tool_use", block_index: 1, step: 2 }),
    );
    tell(thread, { type: "recovery", discarded_from_seq: 2, reason: "restart", step: 2 });
    expect(texts(thread)).toEqual(["Kept.", "One two three"]);
    expect(thread.items.some((item) => item.kind === "call")).toBe(false);
    tell(thread, delta("One", 2));
    const anew = thread.items.at(-1) as Passage;
    expect([anew.text, anew.before, anew.done]).toEqual(["One", "One two three", false]);
    expect(texts(thread)).toEqual(["Kept.", "One"]);
  });

  it("drops what was taken back when something else comes in its place", () => {
    const thread = told(delta("Gone"));
    tell(thread, { type: "recovery", discarded_from_seq: 1, reason: "transport", step: 1 }, call("c1"));
    expect(texts(thread)).toEqual([]);
    expect(thread.items.map((item) => item.kind)).toEqual(["note", "call"]);
  });

  it("cuts a passage of which only the end was taken back", () => {
    const thread = told(delta("One "), delta("two "), delta("three"));
    tell(thread, { type: "recovery", discarded_from_seq: 3, reason: "max_tokens", step: 1 });
    expect(texts(thread)).toEqual(["One two "]);
  });

  it("shows what a sub-agent does inside of it, at any depth", () => {
    const child = { turn_id: "child", depth: 1, parent_turn_id: TURN };
    const deep = { turn_id: "deep", depth: 2, parent_turn_id: "child" };
    const begins = { type: "subagent_lifecycle", agent: "coder", phase: "started" };
    const thread = told(
      { ...begins, child_turn_id: "child" },
      { ...call("c1"), ...child },
      { ...begins, ...child, child_turn_id: "deep" },
      { ...call("c2"), ...deep },
      {
        type: "subagent_lifecycle",
        agent: "coder",
        phase: "completed",
        child_turn_id: "child",
        result: "Done.",
      },
    );
    const agent = thread.items[0] as Agent;
    expect([agent.status, agent.result]).toEqual(["completed", "Done."]);
    expect((agent.inner.items[0] as Call).callId).toBe("c1");
    expect(((agent.inner.items[1] as Agent).inner.items[0] as Call).callId).toBe("c2");
    expect(thread.items).toHaveLength(1);
  });

  it("puts what a call would do beside the question about it", () => {
    const effects = ["deletes files"];
    const prompt = {
      type: "permission_prompt",
      request_id: "r",
      tool: "bash",
      tool_call_id: "c1",
      input: {},
      reason: "",
      effects,
    };
    const thread = told(prompt, { type: "hitl_request", request_id: "r", kind: "permission", question: "?" });
    expect(thread.asking?.prompt?.effects).toEqual(effects);
    expect(thread.prompts.size).toBe(0);
  });

  it("leaves nothing open when a turn ends", () => {
    const thread = told(
      { type: "thread_lifecycle", phase: "started" },
      delta("Half"),
      call("c1"),
      { type: "hitl_request", request_id: "r", kind: "permission", question: "?", tool_call_id: "c1" },
      { type: "thread_lifecycle", phase: "cancelled" },
    );
    expect(thread.running).toBe(false);
    expect(thread.asking).toBeUndefined();
    expect((thread.items[1] as Call).status).toBe("dropped");
    expect(thread.items.map((item) => item.kind)).toEqual(["passage", "call", "ask", "end"]);
  });

  it("tells of work that outlives the turn, several of a kind as one", () => {
    const update = (item_id: string, action: string) => ({
      ...{ type: "work_update", item_id, action, subject: item_id, status: "pending", board: "main" },
    });
    const thread = told(update("a", "created"), update("b", "created"), update("a", "claimed"));
    expect(thread.items.map((item) => item.kind === "told" && [item.title, item.lines.length])).toEqual([
      ["Put on the board", 2],
      ["Taken", 1],
    ]);
  });

  it("tells mail of a team whole, and where something in the background waits", () => {
    const thread = told(
      {
        ...{ type: "team_message", message_id: "m", sender: "ada", recipient: "lead" },
        ...{ message_type: "result", content: "**Done.**" },
      },
      {
        ...{ type: "background_task", runtime_task_id: "bg_1", work: "bash", status: "stalled" },
        ...{ description: "apt install", summary: "Continue? [y/N]" },
      },
    );
    expect(thread.items).toMatchObject([
      { kind: "told", about: "mail", title: "ada to lead", badge: "result", text: "**Done.**" },
      { kind: "told", badge: "waits for an answer", tone: "warn", text: "Continue? [y/N]" },
    ]);
    expect(thread.items[1]).toMatchObject({ lines: [{ text: "apt install", href: "/running/bg_1" }] });
  });

  it("knows where something was last said about the goal", () => {
    const thread = told({ type: "goal_status", goal: "g", status: "active" }, delta("x"));
    expect(thread.goalSeq).toBe(1);
  });
});
