// What each event does to what is shown; one that is not here shows nothing.

import type { AsterEvent, wire } from "@aster/client";
import { money } from "../lib/words.ts";
import type { Agent, Ask, Media } from "./items.ts";
import { Thread } from "./thread.ts";
import { WORK_FOLDS } from "./work-folds.ts";

const LIVE_OUTPUT_CHARS = 100_000;
const FINAL = new Set(["completed", "errored", "cancelled"]);

export type FoldOf<E> = (thread: Thread, event: E) => void;
export type Folds = { [T in AsterEvent["type"]]?: FoldOf<Extract<AsterEvent, { type: T }>> };

const RECOVERED: Record<string, string> = {
  restart: "The engine restarted here. What it had begun to say is asked for again.",
  takeover: "Another engine took over here. What had been begun is asked for again.",
  transport: "The connection to the model broke here. The answer is asked for again.",
  max_tokens: "The answer was cut at the model's limit and is asked for again.",
  repetition: "The answer repeated itself and is asked for again.",
  verification: "The answer did not pass its check and is asked for again.",
};

function hear(thread: Thread, event: Extract<AsterEvent, { type: "user_message" }>): void {
  thread.heard.add(event.message_id);
  thread.waiting.delete(event.message_id);
  if (event.origin === "engine") return;
  const texts = event.content.filter((block): block is wire.TextBlock => block.type === "text");
  thread.add({
    kind: "said",
    turn: event.turn_id ?? null,
    seq: event.seq,
    messageId: event.message_id,
    text: texts.map((block) => block.text).join("\n\n"),
    media: event.content.filter((block): block is Media => block.type !== "text"),
    how: event.edits ? "edited" : event.retries ? "again" : event.origin === "steer" ? "steered" : "",
  });
}

function finish(thread: Thread, event: Extract<AsterEvent, { type: "content_block_stop" }>): void {
  const { block } = event;
  if (block.type === "tool_use") {
    const call = thread.call(event, block.id, block.name);
    thread.touch(call, { tool: block.name, input: block.input as Record<string, unknown> });
  } else if (block.type === "text" || block.type === "thinking") {
    const passage = thread.passage(event, block.type === "thinking");
    thread.touch(passage, {
      text: block.text,
      marks: [...passage.marks, event.seq, block.text.length],
      done: true,
    });
  }
}

function ask(thread: Thread, event: Extract<AsterEvent, { type: "hitl_request" }>): void {
  thread.add<Ask>({
    ...{ kind: "ask", turn: event.turn_id ?? null, seq: event.seq, request: event },
    ...{ prompt: thread.prompts.get(event.request_id) ?? null, state: "open", answer: null, feedback: null },
  });
  thread.prompts.delete(event.request_id);
  const call = thread.last("call", (item) => item.callId === event.tool_call_id);
  if (call?.status === "written" || call?.status === "running") thread.touch(call, { status: "waiting" });
}

function subagent(thread: Thread, event: Extract<AsterEvent, { type: "subagent_lifecycle" }>): void {
  const found = thread.last("agent", (item) => item.inner.turnId === event.child_turn_id);
  if (found) {
    const { phase: status, result = null, cost_usd: cost = null } = event;
    thread.touch(found, { status, result: result ?? found.result, cost });
    return;
  }
  const inner = new Thread();
  inner.turnId = event.child_turn_id;
  thread.add<Agent>({
    ...{ kind: "agent", turn: event.turn_id ?? null, seq: event.seq, agent: event.agent },
    ...{ childTaskId: event.child_task_id ?? "", callId: event.tool_call_id ?? null },
    ...{ description: event.description ?? "", background: event.background ?? false },
    ...{ status: event.phase, result: event.result ?? null, cost: event.cost_usd ?? null, inner },
  });
}

export const FOLDS: Folds = {
  ...WORK_FOLDS,
  user_message: hear,
  text_delta: (thread, event) => thread.write(thread.passage(event, false), event),
  thinking_delta: (thread, event) => thread.write(thread.passage(event, true), event),
  content_block_start: (thread, event) => {
    if (event.block_type === "tool_use") thread.call(event, event.tool_call_id ?? "", event.tool ?? "");
    else thread.passage(event, event.block_type === "thinking");
  },
  content_block_stop: finish,
  tool_call: (thread, event) => {
    const call = thread.call(event, event.tool_call_id, event.tool);
    thread.touch(call, { input: event.input, status: "running" });
  },
  tool_progress: (thread, event) => {
    const call = thread.call(event, event.tool_call_id, event.tool);
    thread.touch(call, { progress: (call.progress + event.text).slice(-LIVE_OUTPUT_CHARS) });
  },
  tool_result: (thread, event) => {
    const { output, error = null, duration_ms: ms = null, content = [], artifacts = [], data = null } = event;
    const call = thread.call(event, event.tool_call_id, event.tool);
    const status = error === null ? "done" : "failed";
    thread.touch(call, { output, error, ms, content, artifacts, data, status });
  },
  tool_retry: (thread, event) => {
    const wait = `${event.delay_ms / 1000} s (${event.attempt} of ${event.limit})`;
    thread.note(event, `${event.tool} is tried again in ${wait}: ${event.reason}`);
  },
  hitl_request: ask,
  permission_prompt: (thread, event) => {
    thread.prompts.set(event.request_id, event);
  },
  hitl_resolved: (thread, event) => {
    const { request_id: id, answer, feedback = null } = event;
    thread.settle(id, { state: "answered", answer, feedback });
  },
  subagent_lifecycle: subagent,
  todo_update: (thread, event) => {
    const shown = thread.last("todos", (item) => item.turn === event.turn_id);
    if (shown) thread.touch(shown, { todos: event.todos });
    else thread.add({ kind: "todos", turn: event.turn_id ?? null, seq: event.seq, todos: event.todos });
  },
  plan_update: (thread, event) => {
    const shown = thread.last("plan", (item) => item.turn === event.turn_id);
    if (shown) thread.touch(shown, { plan: event });
    else thread.add({ kind: "plan", turn: event.turn_id ?? null, seq: event.seq, plan: event });
  },
  recovery: (thread, event) => {
    thread.discard(event);
    thread.note(event, RECOVERED[event.reason] ?? "Part of the answer was taken back.");
  },
  thread_lifecycle: (thread, event) => {
    thread.turnId = event.turn_id ?? null;
    thread.phase = event.phase;
    thread.totals(event);
    if (FINAL.has(event.phase)) thread.end(event);
  },
  task_lifecycle: (thread, event) => {
    if (event.phase === "dequeued" && event.message_id) thread.waiting.delete(event.message_id);
    if (event.title) thread.title = event.title;
  },
  turn_transition: (thread, event) => {
    if (event.reason !== "transport_retry") return;
    const wait = event.delay_ms ? ` in ${event.delay_ms / 1000} s` : "";
    thread.note(event, `${event.message ?? "The model did not answer."} Asking again${wait}.`);
  },
  model_progress: (thread, event) => {
    const shown = thread.items.at(-1);
    if (shown?.kind === "note" && shown.progress && shown.turn === event.turn_id) {
      thread.touch(shown, { text: event.text });
    } else thread.note(event, event.text, "quiet", true);
  },
  provider_fallback: (thread, event) =>
    thread.note(event, `${event.to_model} answers instead of ${event.from_model}: ${event.reason}`, "warn"),
  compaction_event: (thread, event) => {
    if (event.ok === false) return;
    thread.note(event, `Context compacted from ${event.before_tokens} to ${event.after_tokens} tokens.`);
  },
  media_notice: (thread, event) => {
    if ("message" in event && typeof event.message === "string") thread.note(event, event.message, "warn");
  },
  usage: (thread, event) => {
    const totals = thread.totals(event);
    totals.calls += 1;
    totals.input += event.input_tokens;
    totals.output += event.output_tokens;
    totals.cached += event.cache_hit_tokens ?? 0;
    if (event.cost_usd != null) totals.cost = (totals.cost ?? 0) + event.cost_usd;
  },
  uncertainty: (thread, event) => {
    if (event.resolved) return;
    thread.note(event, `${event.item === "unknown" ? "Not known" : "Assumed"}: ${event.text}`, "warn");
  },
  goal_status: (thread, event) => {
    thread.goalSeq = event.seq;
    thread.note(event, `Goal ${event.status}: ${event.reason ?? event.goal}`);
  },
  budget_event: (thread, event) => {
    if (event.status !== "warning" || event.unit === "tokens") return;
    thread.note(event, `${money(event.spent)} of ${money(event.limit)} are spent (${event.scope}).`, "warn");
  },
  memory_write: (thread, event) => thread.note(event, `Memory ${event.action}: ${event.summary}`),
  error: (thread, event) => thread.note(event, event.message, "bad"),
};
