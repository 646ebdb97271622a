import assert from "node:assert/strict";
import { test } from "node:test";
import { EngineError } from "../../../src/aster/server/console/api.js";
import { Follower } from "../../../src/aster/server/console/follow.js";
import { textOf, Thread } from "../../../src/aster/server/console/thread.js";

const base = { task_id: "t", turn_id: "turn-1", timestamp: "2026-01-01T00:00:00.000Z" };
const THREAD = [
  { type: "thread_lifecycle", phase: "started" },
  { type: "user_message", message_id: "m1", content: [{ type: "text", text: "hi" }] },
  { type: "text_delta", text: "one ", block_index: 0, step: 1 },
  { type: "text_delta", text: "two ", block_index: 0, step: 1 },
  { type: "text_delta", text: "three", block_index: 0, step: 1 },
  { type: "thread_lifecycle", phase: "completed" },
].map((event, at) => ({ ...base, seq: at + 1, ...event }));

/** An engine that holds a thread and sends of it, connection by connection, what the script says. */
class ScriptedEngine {
  asked = [];

  constructor(...connections) {
    this.connections = connections;
    this.shown = 0;
  }

  async open(method, path, { headers = {} } = {}) {
    this.asked.push(`${method} ${path} ${headers["Last-Event-ID"] ?? ""}`.trim());
    const next = this.connections.shift();
    if (next instanceof Error) throw next;
    const [first, last, tail] = next;
    this.shown = Math.max(this.shown, last);
    const sent = THREAD.slice(first - 1, last).concat(tail ?? []);
    const text = sent.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(text, { headers: { "X-Message-ID": "m1" } });
  }

  async get(path, query) {
    if (!path.endsWith("/events")) return { active_turn_id: this.shown < THREAD.length ? "turn-1" : null, inbox: [] };
    if (this.shown === 0) throw new EngineError("TASK_NOT_FOUND", "There is no task.", { status: 404 });
    const events = THREAD.slice(query.after_seq, this.shown);
    return { events, next_after_seq: this.shown, head_seq: this.shown };
  }
}

async function follow(engine, sending = true) {
  const thread = new Thread();
  const states = [];
  await new Promise((resolve, reject) => {
    const state = (name) => (states.push(name), name === "idle" && resolve());
    const follower = new Follower(engine, "t", thread, { change() {}, state, error: reject });
    if (sending) follower.send("hi", "queue").catch(reject);
    else follower.follow();
  });
  return { thread, states, text: thread.items.filter((item) => item.kind === "passage").map(textOf).join("|") };
}

test("a whole stream", async () => {
  const { text, thread } = await follow(new ScriptedEngine([1, 6]));
  assert.deepEqual([text, thread.seq, thread.waiting.size], ["one two three", 6, 0]);
});

test("a stream that breaks goes on where it stopped, with no duplicate", async () => {
  const engine = new ScriptedEngine([1, 3], new EngineError("UNREACHABLE", "Gone."), [2, 5], [6, 6]);
  const { text, states } = await follow(engine);
  assert.equal(text, "one two three");
  assert.ok(states.includes("lost"));
  assert.deepEqual(engine.asked[1], "GET /execute/replay 3");
});

test("an engine that says goodbye is asked again", async () => {
  const goodbye = { ...base, type: "reconnect", seq: 3, after_seq: 3, retry_ms: 1 };
  const { text, states } = await follow(new ScriptedEngine([1, 3, goodbye], [4, 6]));
  assert.deepEqual([text, states], ["one two three", ["live", "lost", "live", "idle"]]);
});

test("what others did meanwhile is fetched first", async () => {
  const { text } = await follow(new ScriptedEngine([4, 6]));
  assert.equal(text, "one two three");
});

test("a task nobody has written to is idle", async () => {
  const { states } = await follow(new ScriptedEngine(), false);
  assert.deepEqual(states, ["idle"]);
});

test("a refusal that will not pass is said", async () => {
  const refusal = new EngineError("INVALID_REQUEST", "No.", { status: 422 });
  await assert.rejects(follow(new ScriptedEngine(refusal)), refusal);
});
