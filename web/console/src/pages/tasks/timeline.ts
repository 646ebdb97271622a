// The events of a thread folded into turns and their steps, one event after the other. What sub-agents do is on their own
// threads; here each is one step.

import type { AsterEvent, wire } from "@aster/client";
import type { ModelStep, Remark, StepKind, StepOf, TurnLine } from "./steps.ts";

type Event<T extends AsterEvent["type"]> = Extract<AsterEvent, { type: T }>;
type Fold<E> = (turn: TurnLine, event: E, at: number) => void;
type Folds = { [T in AsterEvent["type"]]?: Fold<Event<T>> };

const FINAL = new Set<string>(["completed", "errored", "cancelled"]);

export class Timeline {
  readonly turns: TurnLine[] = [];
  readonly #byId = new Map<string, TurnLine>();

  apply(event: AsterEvent): void {
    if (event.depth || !event.turn_id) return;
    const at = Date.parse(event.timestamp);
    const turn = this.#byId.get(event.turn_id) ?? this.#begin(event.turn_id, event.seq, at);
    turn.lastSeq = event.seq;
    turn.seen = at;
    (FOLDS[event.type] as Fold<AsterEvent> | undefined)?.(turn, event, at);
  }

  #begin(id: string, seq: number, at: number): TurnLine {
    const turn: TurnLine = {
      ...{ id, seq, lastSeq: seq, from: at, to: null, seen: at, said: "", phase: "started", reason: null },
      ...{ steps: [], calls: 0, input: 0, cached: 0, output: 0, cost: null },
    };
    this.turns.push(turn);
    this.#byId.set(id, turn);
    return turn;
  }
}

function last<K extends StepKind>(
  turn: TurnLine,
  kind: K,
  fits: (step: StepOf<K>) => boolean,
): StepOf<K> | undefined {
  return turn.steps.findLast((step): step is StepOf<K> => step.kind === kind && fits(step as StepOf<K>));
}

/** The call of this step that has not ended. */
function asked(turn: TurnLine, event: { seq: number; step: number }, at: number): ModelStep {
  const found = last(turn, "model", (step) => step.step === event.step && step.to === null);
  if (found) return found;
  const made: ModelStep = {
    ...{ kind: "model", key: `m${event.seq}`, seq: event.seq, from: at, to: null, step: event.step },
    ...{ model: "", purpose: "step", usage: null, call: null, blocks: [], discarded: null },
  };
  turn.steps.push(made);
  return made;
}

function remark(turn: TurnLine, seq: number, at: number, text: string, tone: Remark["tone"] = "plain"): void {
  turn.steps.push({ kind: "remark", key: `r${seq}`, seq, from: at, to: at, text, tone });
}

function used(turn: TurnLine, event: Event<"usage">, at: number): void {
  const beside = (event.purpose ?? "step") !== "step";
  const step = beside ? asked(turn, { seq: event.seq, step: -event.seq }, at) : asked(turn, event, at);
  const from = event.duration_ms == null ? step.from : at - event.duration_ms;
  Object.assign(step, { to: at, from, usage: event, model: event.model, purpose: event.purpose ?? "step" });
  turn.calls += 1;
  turn.input += event.input_tokens;
  turn.output += event.output_tokens;
  turn.cached += event.cache_hit_tokens ?? 0;
  if (event.cost_usd != null) turn.cost = (turn.cost ?? 0) + event.cost_usd;
}

/** A manifest follows the call it is of; a call that brought no answer has nothing else. */
function shown(turn: TurnLine, event: Event<"context_manifest">, at: number): void {
  const step =
    last(turn, "model", (one) => one.step === event.step && one.call === null) ?? asked(turn, event, at);
  Object.assign(step, { call: event.seq, model: step.model || (event.model ?? ""), to: step.to ?? at });
}

function agent(turn: TurnLine, event: Event<"subagent_lifecycle">, at: number): void {
  const { phase: status, cost_usd: cost = null, result = null } = event;
  const found = last(turn, "agent", (step) => step.childTurnId === event.child_turn_id);
  if (found) {
    Object.assign(found, { status, cost, result, to: status === "started" ? null : at });
    return;
  }
  turn.steps.push({
    ...{
      kind: "agent",
      key: `a${event.seq}`,
      seq: event.seq,
      from: at,
      to: status === "started" ? null : at,
    },
    ...{ childTurnId: event.child_turn_id, childTaskId: event.child_task_id ?? "", agent: event.agent },
    ...{ description: event.description ?? "", status, cost, result },
  });
}

function call(turn: TurnLine, event: Event<"tool_call">, at: number): void {
  const { tool, tool_call_id: callId, input, attempt = 1 } = event;
  const before = last(turn, "tool", (step) => step.callId === callId && step.to === null);
  if (before) before.to = at;
  turn.steps.push({
    ...{ kind: "tool", key: `t${event.seq}`, seq: event.seq, from: at, to: null },
    ...{ callId, tool, input, attempt, result: null },
  });
}

function outcome(turn: TurnLine, event: Event<"tool_result">, at: number): void {
  const found = last(turn, "tool", (step) => step.callId === event.tool_call_id);
  if (found) {
    Object.assign(found, { to: at, result: event });
    return;
  }
  const { tool, tool_call_id: callId } = event;
  turn.steps.push({
    ...{ kind: "tool", key: `t${event.seq}`, seq: event.seq, from: at - (event.duration_ms ?? 0), to: at },
    ...{ callId, tool, input: wanted(turn, callId), attempt: 1, result: event },
  });
}

/** What the model wanted to call with; a call that was refused was never begun. */
function wanted(turn: TurnLine, callId: string): Record<string, unknown> {
  for (const step of turn.steps.toReversed()) {
    const blocks = step.kind === "model" ? step.blocks : [];
    for (const block of blocks) if (block.type === "tool_use" && block.id === callId) return block.input;
  }
  return {};
}

function recovered(turn: TurnLine, event: Event<"recovery">, at: number): void {
  for (const step of turn.steps) {
    if (step.kind !== "model" || step.step !== event.step || step.seq < event.discarded_from_seq) continue;
    Object.assign(step, { discarded: event.reason, to: step.to ?? at });
  }
}

function lifecycle(turn: TurnLine, event: Event<"thread_lifecycle">, at: number): void {
  turn.phase = event.phase;
  if (event.phase === "started") turn.from = at;
  if (!FINAL.has(event.phase)) return;
  turn.to = at;
  turn.reason = event.stop_reason ?? null;
  for (const step of turn.steps) step.to ??= at;
}

const textOf = (content: wire.UserMessage["content"]): string =>
  content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join(" ");

const FOLDS: Folds = {
  thread_lifecycle: lifecycle,
  user_message: (turn, event, at) => {
    if (!turn.said) turn.said = textOf(event.content);
    else if (event.origin !== "engine") remark(turn, event.seq, at, `Said: ${textOf(event.content)}`);
  },
  content_block_start: (turn, event, at) => void asked(turn, event, at),
  text_delta: (turn, event, at) => void asked(turn, event, at),
  thinking_delta: (turn, event, at) => void asked(turn, event, at),
  content_block_stop: (turn, event, at) => void asked(turn, event, at).blocks.push(event.block),
  usage: used,
  context_manifest: shown,
  tool_call: call,
  tool_result: outcome,
  hitl_request: (turn, event, at) => {
    turn.steps.push({
      ...{ kind: "wait", key: `w${event.seq}`, seq: event.seq, from: at, to: null },
      ...{ request: event, answer: null, feedback: null },
    });
  },
  hitl_resolved: (turn, event, at) => {
    const found = last(turn, "wait", (step) => step.request.request_id === event.request_id);
    if (found) Object.assign(found, { to: at, answer: event.answer, feedback: event.feedback ?? null });
  },
  subagent_lifecycle: agent,
  recovery: recovered,
  compaction_event: (turn, event, at) => {
    if (event.ok === false) return;
    const { before_tokens: before, after_tokens: after } = event;
    remark(turn, event.seq, at, `Context compacted from ${before} to ${after} tokens (${event.strategy}).`);
  },
  cache_hit_ratio_alert: (turn, event, at) => {
    const where = event.moved_block ? `: ${event.moved_block} had changed` : "";
    remark(turn, event.seq, at, `${event.missed_tokens ?? 0} tokens missed the cache${where}.`, "warn");
  },
  provider_fallback: (turn, event, at) =>
    remark(
      turn,
      event.seq,
      at,
      `${event.to_model} answers instead of ${event.from_model}: ${event.reason}`,
      "warn",
    ),
  tool_retry: (turn, event, at) =>
    remark(turn, event.seq, at, `${event.tool} is tried again: ${event.reason}`, "warn"),
  error: (turn, event, at) => remark(turn, event.seq, at, event.message, "bad"),
};
