// A thread's events folded into what the screen shows. Feed it events in order, live or replayed: an event it has
// seen is ignored, a finished block replaces its deltas, what a `recovery` takes back is gone.

const LIVE_OUTPUT_CHARS = 100_000;
const FINAL = new Set(["completed", "errored", "cancelled"]);

export class Thread {
  items = [];
  waiting = new Map(); // messages the engine has accepted and no turn has taken yet
  changed = new Set();
  seq = 0;
  turnId = null;
  phase = null;
  #turns = new Map();
  #heard = new Set();

  get running() {
    return this.phase !== null && !FINAL.has(this.phase);
  }

  get asking() {
    return this.items.some((item) => item.kind === "ask" && item.state === "open");
  }

  /** Whether the event was new. */
  apply(event) {
    if (event.seq <= this.seq) return false;
    this.seq = event.seq;
    if (!event.depth) FOLDS.get(event.type)?.(this, event);
    return true;
  }

  /** A message was accepted; it is shown as waiting unless a turn has it already. */
  expect(messageId, text, mode) {
    if (!this.#heard.has(messageId)) this.waiting.set(messageId, { text, mode });
  }

  hear(event) {
    this.#heard.add(event.message_id);
    this.waiting.delete(event.message_id);
    if (event.origin === "engine") return;
    const text = event.content.filter((block) => block.type === "text").map((block) => block.text);
    const media = event.content.length - text.length;
    const how = event.edits ? "edited" : event.retries ? "again" : event.origin === "steer" ? "steered" : "";
    this.add({ kind: "said", turn: event.turn_id, seq: event.seq, text: text.join("\n\n"), media, how });
  }

  add(item) {
    this.items.push(item);
    return this.touch(item);
  }

  touch(item) {
    this.changed.add(item);
    return item;
  }

  note(event, text, tone = "quiet") {
    this.add({ kind: "note", turn: event.turn_id, seq: event.seq, text, tone });
  }

  /** The open block an event belongs to; a finished one is another answer's. */
  passage(event, thinking) {
    for (let i = this.items.length - 1; i >= 0 && this.items[i].turn === event.turn_id; i--) {
      const item = this.items[i];
      if (item.kind !== "passage" || item.step !== event.step || item.index !== event.block_index) continue;
      if (!item.done) return this.touch(item);
      break;
    }
    const { turn_id: turn, seq, step, block_index: index } = event;
    return this.add({ kind: "passage", turn, seq, step, index, thinking, pieces: [], done: false });
  }

  card(event, callId, tool) {
    const found = this.items.findLast(
      (item) => item.kind === "card" && item.callId === callId && item.turn === event.turn_id,
    );
    if (found) return this.touch(found);
    const { turn_id: turn, seq } = event;
    const empty = { input: null, status: "written", progress: "", output: null, error: null, ms: null, folded: false };
    return this.add({ kind: "card", turn, seq, callId, tool, ...empty });
  }

  discard(event) {
    const first = event.discarded_from_seq;
    this.items = this.items.filter((item) => {
      if (item.turn !== event.turn_id || item.seq < first) return true;
      return !(item.kind === "passage" || (item.kind === "card" && item.status === "written"));
    });
    for (const item of this.items) {
      if (item.kind !== "passage" || item.turn !== event.turn_id) continue;
      const kept = item.pieces.filter((piece) => piece.seq < first);
      if (kept.length < item.pieces.length) this.touch(item).pieces = kept;
    }
  }

  settle(requestId, answer) {
    const ask = this.items.find((item) => item.kind === "ask" && item.request.request_id === requestId);
    if (!ask || ask.state !== "open") return;
    Object.assign(this.touch(ask), answer);
    const card = this.items.findLast((item) => item.kind === "card" && item.callId === ask.request.tool_call_id);
    if (card?.status === "waiting") this.touch(card).status = "written";
  }

  turn(event) {
    const { turn_id: id, timestamp } = event;
    if (!this.#turns.has(id)) this.#turns.set(id, { since: timestamp, input: 0, output: 0, cost: null });
    return this.#turns.get(id);
  }

  end(event) {
    for (const item of this.items) {
      if (item.turn !== event.turn_id) continue;
      if (item.kind === "passage" && !item.done) this.touch(item).done = true;
      if (item.kind === "card" && !item.status.match(/^(done|failed)$/)) this.touch(item).status = "dropped";
      if (item.kind === "ask") this.settle(item.request.request_id, { state: "void" });
    }
    const usage = this.turn(event);
    const ms = Date.parse(event.timestamp) - Date.parse(usage.since);
    const { turn_id: turn, seq, phase, stop_reason: reason } = event;
    this.add({ kind: "end", turn, seq, phase, reason, usage, ms });
  }
}

export function textOf(passage) {
  return passage.pieces.map((piece) => piece.text).join("");
}

function grow(thread, event, thinking) {
  thread.passage(event, thinking).pieces.push({ seq: event.seq, text: event.text });
}

function finish(thread, event) {
  const { block } = event;
  if (block.type === "tool_use") {
    Object.assign(thread.card(event, block.id, block.name), { tool: block.name, input: block.input });
    return;
  }
  const passage = thread.passage(event, block.type === "thinking");
  passage.done = true;
  if (textOf(passage) !== block.text) passage.pieces = [{ seq: event.seq, text: block.text }];
}

function lifecycle(thread, event) {
  thread.turnId = event.turn_id;
  thread.phase = event.phase;
  thread.turn(event);
  if (FINAL.has(event.phase)) thread.end(event);
}

const RECOVERED = {
  restart: "The engine restarted here. What it had begun to say is asked for again.",
  takeover: "Another engine took over here. What had been begun is asked for again.",
  transport: "The connection to the model broke here. The answer is asked for again.",
  max_tokens: "The answer was cut at the model's limit and is asked for again.",
};

const FOLDS = new Map(
  Object.entries({
    user_message: (thread, event) => thread.hear(event),
    text_delta: (thread, event) => grow(thread, event, false),
    thinking_delta: (thread, event) => grow(thread, event, true),
    content_block_start(thread, event) {
      if (event.block_type === "tool_use") thread.card(event, event.tool_call_id, event.tool);
      else thread.passage(event, event.block_type === "thinking");
    },
    content_block_stop: finish,
    tool_call(thread, event) {
      const card = thread.card(event, event.tool_call_id, event.tool);
      Object.assign(card, { input: event.input, status: "running" });
    },
    tool_progress(thread, event) {
      const card = thread.card(event, event.tool_call_id, event.tool);
      card.progress = (card.progress + event.text).slice(-LIVE_OUTPUT_CHARS);
    },
    tool_result(thread, event) {
      const { output, error = null, duration_ms: ms = null } = event;
      const card = thread.card(event, event.tool_call_id, event.tool);
      Object.assign(card, { output, error, ms, status: error === null ? "done" : "failed" });
    },
    tool_retry(thread, event) {
      const wait = `${event.delay_ms / 1000} s (${event.attempt} of ${event.limit})`;
      thread.note(event, `${event.tool} is tried again in ${wait}: ${event.reason}`);
    },
    hitl_request(thread, event) {
      const { turn_id: turn, seq } = event;
      thread.add({ kind: "ask", turn, seq, request: event, state: "open", answer: null, feedback: null });
      const card = thread.items.findLast((item) => item.kind === "card" && item.callId === event.tool_call_id);
      if (card?.status !== "written" && card?.status !== "running") return;
      Object.assign(thread.touch(card), { status: "waiting", folded: event.kind === "question" });
    },
    hitl_resolved(thread, event) {
      const { request_id, answer, feedback = null } = event;
      thread.settle(request_id, { state: "answered", answer, feedback });
    },
    subagent_lifecycle(thread, event) {
      const how = event.phase === "started" ? "begins" : `has ended (${event.phase})`;
      thread.note(event, `The sub-agent ${event.agent} ${how}.`);
    },
    recovery(thread, event) {
      thread.discard(event);
      thread.note(event, RECOVERED[event.reason] ?? "Part of the answer was taken back.");
    },
    thread_lifecycle: lifecycle,
    task_lifecycle(thread, event) {
      if (event.phase === "dequeued") thread.waiting.delete(event.message_id);
    },
    turn_transition(thread, event) {
      if (event.reason !== "transport_retry") return;
      const wait = event.delay_ms ? ` in ${event.delay_ms / 1000} s` : "";
      thread.note(event, `${event.message ?? "The model did not answer."} Asking again${wait}.`);
    },
    model_progress(thread, event) {
      const shown = thread.items.at(-1);
      if (shown?.progress && shown.turn === event.turn_id) thread.touch(shown).text = event.text;
      else thread.add({ kind: "note", turn: event.turn_id, seq: event.seq, text: event.text, tone: "quiet", progress: true });
    },
    provider_fallback: (thread, event) =>
      thread.note(event, `${event.to_model} answers instead of ${event.from_model}: ${event.reason}`),
    compaction_event(thread, event) {
      if (event.ok === false) return;
      thread.note(event, `Context compacted from ${event.before_tokens} to ${event.after_tokens} tokens.`);
    },
    usage(thread, event) {
      const turn = thread.turn(event);
      turn.input += event.input_tokens;
      turn.output += event.output_tokens;
      if (event.cost_usd != null) turn.cost = (turn.cost ?? 0) + event.cost_usd;
    },
    error: (thread, event) => thread.note(event, event.message, "bad"),
  }),
);
