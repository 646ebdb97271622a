// A thread's events folded into what the screen shows. Feed it events in order, live or replayed: an event it has seen is
// ignored, a finished block replaces its deltas, what a `recovery` takes back is gone.

import type { AsterEvent, wire } from "@aster/client";
import { FOLDS, type FoldOf } from "./folds.ts";
import type { Agent, Ask, Call, Fresh, Item, Kind, Of, Passage, Told, Totals } from "./items.ts";

const FINAL = new Set(["completed", "errored", "cancelled"]);

export interface WaitingMessage {
  text: string;
  mode: string | null;
}

type Event<T extends AsterEvent["type"]> = Extract<AsterEvent, { type: T }>;

export class Thread {
  items: Item[] = [];
  /** Messages the engine has accepted and no turn has taken yet. */
  waiting = new Map<string, WaitingMessage>();
  seq = 0;
  turnId: string | null = null;
  phase: string | null = null;
  title: string | null = null;
  /** Where something was last said about the task's goal; 0 when nothing was. */
  goalSeq = 0;
  readonly heard = new Set<string>();
  /** Why people are about to be asked, by request: it comes just before the question. */
  readonly prompts = new Map<string, wire.PermissionPrompt>();
  readonly #turns = new Map<string | null, Totals>();
  readonly #agents = new Map<string, Agent>();
  // Found by key: a thread of thousands of calls would otherwise be searched through for each of them.
  readonly #calls = new Map<string, Call>();
  readonly #passages = new Map<string, Passage>();
  readonly #stale = new Set<Passage>();
  #next = 1;

  get running(): boolean {
    return this.phase !== null && !FINAL.has(this.phase);
  }

  get asking(): Ask | undefined {
    return this.items.find((item): item is Ask => item.kind === "ask" && item.state === "open");
  }

  /** Whether the event was new. */
  apply(event: AsterEvent): boolean {
    if (event.seq <= this.seq) return false;
    this.seq = event.seq;
    if (event.depth && event.turn_id) this.#below(event);
    else this.fold(event);
    return true;
  }

  fold(event: AsterEvent): void {
    const fold = FOLDS[event.type] as FoldOf<AsterEvent> | undefined;
    fold?.(this, event);
  }

  /** What a sub-agent does is shown inside of it. */
  #below(event: AsterEvent): void {
    const agent = this.#agents.get(event.turn_id ?? "");
    if (agent === undefined) {
      for (const known of this.#agents.values()) known.inner.#below(event);
      return;
    }
    agent.inner.fold(event);
    this.touch(agent);
  }

  /** A message was accepted; it is shown as waiting unless a turn has it already. */
  expect(messageId: string, text: string, mode: string | null): void {
    if (!this.heard.has(messageId)) this.waiting.set(messageId, { text, mode });
  }

  add<T extends Item>(item: Fresh<T>): T {
    const added = { id: this.#next, rev: 0, ...item } as unknown as T;
    this.#next += 1;
    this.items.push(added);
    if (added.kind === "agent") this.#agents.set(this.#childOf(added), added);
    return added;
  }

  #childOf(agent: Agent): string {
    return agent.inner.turnId ?? "";
  }

  touch<T extends Item>(item: T, change: Partial<T> = {}): T {
    Object.assign(item, change);
    item.rev += 1;
    return item;
  }

  note(event: AsterEvent, text: string, tone: "quiet" | "warn" | "bad" = "quiet", progress = false): void {
    this.add({ kind: "note", turn: event.turn_id ?? null, seq: event.seq, text, tone, progress });
  }

  /** Something to be told, put with the one before it when that says the same of something else. */
  tell(event: AsterEvent, told: Omit<Fresh<Told>, "kind" | "turn" | "seq">): void {
    const turn = event.turn_id ?? null;
    const before = this.items.at(-1);
    const same =
      before?.kind === "told" &&
      before.turn === turn &&
      before.about === told.about &&
      !before.text &&
      !told.text;
    if (same && before.title === told.title && before.badge === told.badge) {
      this.touch(before, { lines: [...before.lines, ...told.lines] });
    } else this.add<Told>({ kind: "told", turn, seq: event.seq, ...told });
  }

  last<K extends Kind>(kind: K, fits: (item: Of<K>) => boolean): Of<K> | undefined {
    return this.items.findLast((item): item is Of<K> => item.kind === kind && fits(item as Of<K>));
  }

  /** The open block an event belongs to; a finished one is another answer's. */
  passage(
    event: Event<"text_delta" | "thinking_delta" | "content_block_start" | "content_block_stop">,
    thinking: boolean,
  ): Passage {
    const { turn_id: turn = null, seq, step, block_index: index } = event;
    const key = `${turn} ${step} ${index}`;
    const found = this.#passages.get(key);
    if (found && !found.done) return this.touch(found);
    const before = this.#takeStale(turn, thinking);
    const made = this.add<Passage>({
      ...{ kind: "passage", turn, seq, step, index, thinking },
      ...{ text: "", marks: [], before, done: false },
    });
    this.#passages.set(key, made);
    return made;
  }

  write(passage: Passage, event: Event<"text_delta" | "thinking_delta">): void {
    passage.text += event.text;
    passage.marks.push(event.seq, passage.text.length);
  }

  call(event: AsterEvent, callId: string, tool: string): Call {
    const turn = event.turn_id ?? null;
    const key = `${turn} ${callId}`;
    const found = this.#calls.get(key);
    if (found) return this.touch(found);
    this.#takeStale(turn, null);
    const made = this.add<Call>({
      ...{ kind: "call", turn, seq: event.seq, callId, tool, input: null, status: "written", progress: "" },
      ...{ output: null, error: null, ms: null, content: [], artifacts: [], data: null },
    });
    this.#calls.set(key, made);
    return made;
  }

  /** Takes back what was written from a place on. The text stays in sight until something new stands in its place. */
  discard(event: Event<"recovery">): void {
    const first = event.discarded_from_seq;
    this.items = this.items.filter((item) => {
      const back = item.turn === event.turn_id && item.seq >= first;
      if (!back || item.kind !== "call" || item.status !== "written") return true;
      this.#calls.delete(`${item.turn} ${item.callId}`);
      return false;
    });
    for (const item of this.items) {
      if (item.kind !== "passage" || item.turn !== event.turn_id) continue;
      if (item.seq >= first) this.#stale.add(this.touch(item, { done: true }));
      else this.#cut(item, first);
    }
  }

  #cut(passage: Passage, first: number): void {
    const { marks } = passage;
    let kept = marks.length;
    while (kept > 0 && (marks[kept - 2] ?? 0) >= first) kept -= 2;
    if (kept === marks.length) return;
    const text = passage.text.slice(0, marks[kept - 1] ?? 0);
    this.touch(passage, { text, marks: marks.slice(0, kept) });
  }

  /** What was taken back goes when the turn goes on; gives the text that a new passage stands in for. */
  #takeStale(turn: string | null, thinking: boolean | null): string {
    if (this.#stale.size === 0) return "";
    const gone = [...this.#stale].filter((item) => item.turn === turn);
    if (gone.length === 0) return "";
    for (const item of gone) this.#stale.delete(item);
    this.items = this.items.filter((item) => !gone.includes(item as Passage));
    return gone.find((item) => item.thinking === thinking)?.text ?? "";
  }

  settle(requestId: string, change: Partial<Ask>): void {
    const ask = this.last("ask", (item) => item.request.request_id === requestId);
    if (ask?.state !== "open") return;
    this.touch(ask, change);
    const call = this.last("call", (item) => item.callId === ask.request.tool_call_id);
    if (call?.status === "waiting") this.touch(call, { status: "written" });
  }

  totals(event: AsterEvent): Totals {
    const turn = event.turn_id ?? null;
    const known = this.#turns.get(turn);
    if (known) return known;
    const begun = { since: event.timestamp, calls: 0, input: 0, output: 0, cached: 0, cost: null };
    this.#turns.set(turn, begun);
    return begun;
  }

  end(event: Event<"thread_lifecycle">): void {
    const turn = event.turn_id ?? null;
    this.#takeStale(turn, null);
    for (const item of this.items) if (item.turn === turn) this.#close(item);
    const totals = this.totals(event);
    const ms = Date.parse(event.timestamp) - Date.parse(totals.since);
    const answer = this.last("passage", (item) => item.turn === turn && !item.thinking)?.text ?? "";
    this.add({
      ...{ kind: "end", turn, seq: event.seq, phase: event.phase },
      ...{ reason: event.stop_reason ?? null, answer, totals, ms },
    });
  }

  #close(item: Item): void {
    if (item.kind === "passage") this.touch(item, { done: true, marks: [] });
    if (item.kind === "call" && item.status !== "done" && item.status !== "failed") {
      this.touch(item, { status: "dropped" });
    }
    if (item.kind === "ask") this.settle(item.request.request_id, { state: "void" });
  }
}
