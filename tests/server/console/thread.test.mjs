import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf, Thread } from "../../../src/aster/server/console/thread.js";

const AT = "2026-01-01T00:00:00.000Z";

function fold(...events) {
  const thread = new Thread();
  events.forEach((event, at) => thread.apply({ turn_id: "turn-1", seq: at + 1, timestamp: AT, ...event }));
  return thread;
}

const started = { type: "thread_lifecycle", phase: "started" };
const completed = { type: "thread_lifecycle", phase: "completed", stop_reason: "end_turn" };
const words = (text) => [{ type: "text", text }];
const said = (text, more = {}) => ({ type: "user_message", message_id: "m1", content: words(text), ...more });
const delta = (text, step = 1) => ({ type: "text_delta", text, block_index: 0, step });
const stop = (text, step = 1) => ({ type: "content_block_stop", block_index: 0, step, block: { type: "text", text } });
const ask = { type: "hitl_request", request_id: "h1", kind: "permission", question: "May it?", tool_call_id: "c1" };
const call = { type: "tool_call", tool: "bash", tool_call_id: "c1", input: { command: "ls" }, step: 1 };
const block = { block_index: 1, block_type: "tool_use", step: 1 };
const written = { type: "content_block_start", tool: "bash", tool_call_id: "c1", ...block };
const texts = (thread) => thread.items.filter((item) => item.kind === "passage").map(textOf);
const card = (thread) => thread.items.find((item) => item.kind === "card");

test("deltas build a block and the finished block replaces them", () => {
  assert.deepEqual(texts(fold(started, delta("Hel"), delta("lo"))), ["Hello"]);
  assert.deepEqual(texts(fold(started, delta("Hel"), stop("Hello!"))), ["Hello!"]);
  assert.deepEqual(texts(fold(started, stop("one"), delta("two"))), ["one", "two"]);
});

test("an event that was seen is ignored", () => {
  const thread = fold(started, delta("Hello"));
  assert.equal(thread.apply({ ...delta("Hello"), turn_id: "turn-1", seq: 2 }), false);
  assert.deepEqual(texts(thread), ["Hello"]);
});

test("what a recovery takes back is gone, and nothing else", () => {
  const recovery = { type: "recovery", discarded_from_seq: 4, reason: "restart", step: 2 };
  const thread = fold(started, said("hi"), stop("kept"), delta("lost", 2), written, recovery, delta("again", 2));
  assert.deepEqual(texts(thread), ["kept", "again"]);
  assert.equal(card(thread), undefined);
  const issued = fold(started, written, call, { ...recovery, discarded_from_seq: 2 });
  assert.equal(card(issued).status, "running");
  const half = fold(started, delta("a"), delta("b"), { ...recovery, discarded_from_seq: 3 });
  assert.deepEqual(texts(half), ["a"]);
});

test("a tool call goes from written to its one result", () => {
  const progress = { type: "tool_progress", tool: "bash", tool_call_id: "c1", text: "a\n" };
  const result = { type: "tool_result", tool: "bash", tool_call_id: "c1", step: 1, output: "a\nb", duration_ms: 7 };
  assert.equal(card(fold(started, written)).status, "written");
  assert.equal(card(fold(started, written, ask)).status, "waiting");
  assert.equal(card(fold(started, written, call, progress, progress)).progress, "a\na\n");
  const done = card(fold(started, written, call, progress, result));
  assert.deepEqual([done.status, done.output, done.ms], ["done", "a\nb", 7]);
  assert.equal(card(fold(started, call, { ...result, error: "timeout" })).status, "failed");
  assert.equal(card(fold(started, written, { ...completed, phase: "cancelled" })).status, "dropped");
});

test("a request is open until it is answered or its turn ends", () => {
  const answered = { type: "hitl_resolved", request_id: "h1", answer: "no", feedback: "later" };
  assert.equal(fold(started, ask).asking, true);
  const settled = fold(started, ask, answered);
  assert.equal(settled.asking, false);
  assert.deepEqual([settled.items[0].state, settled.items[0].answer], ["answered", "no"]);
  assert.equal(fold(started, ask, completed).items[0].state, "void");
});

test("a turn ends with what it used", () => {
  const usage = { type: "usage", input_tokens: 10, output_tokens: 2, cost_usd: 0.5 };
  const thread = fold(started, usage, usage, { ...completed, timestamp: "2026-01-01T00:00:02.000Z" });
  const end = thread.items.at(-1);
  assert.deepEqual([end.usage.input, end.usage.output, end.usage.cost, end.ms], [20, 4, 1, 2000]);
  assert.equal(thread.running, false);
});

test("a message waits until a turn takes it, in whichever order the news come", () => {
  const thread = fold(started);
  thread.expect("m1", "hi", "queue");
  assert.equal(thread.waiting.size, 1);
  thread.apply({ ...said("hi"), turn_id: "turn-1", seq: 2 });
  assert.equal(thread.waiting.size, 0);
  thread.expect("m1", "hi", "queue");
  assert.equal(thread.waiting.size, 0);
});

test("what the engine says to itself, what sub-agents do and what is unknown is not shown", () => {
  const thread = fold(said("x", { origin: "engine" }), { ...delta("x"), depth: 1 }, { type: "constructor" });
  assert.deepEqual([thread.items, thread.seq], [[], 3]);
});

test("a model that is being made ready is one line that moves", () => {
  const progress = (text) => ({ type: "model_progress", stage: "downloading", text });
  const notes = (thread) => thread.items.filter((item) => item.kind === "note").map((item) => item.text);
  assert.deepEqual(notes(fold(started, progress("10 %"), progress("20 %"))), ["20 %"]);
  assert.deepEqual(notes(fold(started, progress("10 %"), delta("a"), progress("20 %"))), ["10 %", "20 %"]);
});
