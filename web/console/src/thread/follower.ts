// Following one task: its thread page by page, then live over as many connections as it takes, with no gap and no double.
// The place is the last sequence number on the thread; every new connection asks for what comes after.

import {
  type AsterClient,
  type AsterEvent,
  EngineError,
  Patience,
  pause,
  received,
  replay,
  type wire,
} from "@aster/client";
import { signal } from "@preact/signals";
import { Thread } from "./thread.ts";

const PAGE = 1000;
export type State = "loading" | "idle" | "live" | "lost";

export class Follower {
  readonly thread = new Thread();
  /** Grows at most once per frame, after the thread has changed. */
  readonly version = signal(0);
  /** How the newest turn stands, null when there is none. */
  readonly phase = signal<string | null>(null);
  readonly state = signal<State>("loading");
  readonly error = signal<unknown>(null);
  readonly #leave = new AbortController();
  readonly #patience = new Patience();
  #following = false;
  #again = false;
  #drawn = 0;

  constructor(
    readonly engine: AsterClient,
    readonly taskId: string,
  ) {}

  get #gone(): boolean {
    return this.#leave.signal.aborted;
  }

  stop(): void {
    this.#leave.abort();
    cancelAnimationFrame(this.#drawn);
  }

  /** Hand a message over and follow what comes of it; throws when the engine does not take it. */
  async send(body: Omit<wire.ExecuteBody, "task_id">): Promise<void> {
    const sent = { ...body, task_id: this.taskId };
    const response = await this.engine.transport.open("POST", "/execute", { body: sent });
    if (this.#gone) return void response.body?.cancel();
    const waits = this.thread.running ? (body.on_busy ?? null) : null;
    this.thread.expect(response.headers.get("X-Message-ID") ?? "", body.message ?? "", waits);
    this.#changed();
    if (!this.#following) return void this.follow(response);
    this.#again = true;
    void response.body?.cancel();
  }

  /** Read on until the task is idle, taking up again what breaks; `response` is a stream that is open already. */
  async follow(response: Response | null = null): Promise<void> {
    if (this.#following || this.#gone) return;
    this.#following = true;
    this.error.value = null;
    let open = response;
    try {
      for (let wait: number | null = 0; wait !== null || this.#again; open = null) {
        this.#again = false;
        if (wait) await pause(wait, this.#leave.signal);
        if (this.#gone) return;
        wait = await this.#attempt(open);
      }
      if (!this.#gone) this.state.value = "idle";
    } catch (error) {
      if (!this.#gone) this.error.value = error;
    } finally {
      this.#following = false;
    }
  }

  /** How long to wait before the next attempt; null when there is nothing left to follow. */
  async #attempt(response: Response | null): Promise<number | null> {
    try {
      if (response) return await this.#read(response);
      await this.#catchUp();
      if (this.#gone || (await this.#idle())) return null;
      return await this.#read(
        await replay(this.engine.transport, this.taskId, this.thread.seq, this.#leave.signal),
      );
    } catch (error) {
      return this.#gone ? null : this.#borne(error);
    }
  }

  #borne(error: unknown): number | null {
    if (!(error instanceof EngineError)) throw error;
    if (error.code === "TASK_NOT_FOUND" && this.thread.seq === 0) return null;
    if (!error.passing) throw error;
    this.state.value = "lost";
    return this.#patience.next(error.retryAfterMs);
  }

  async #catchUp(): Promise<void> {
    for (let head = Number.POSITIVE_INFINITY; this.thread.seq < head; ) {
      const page = await this.engine.events(this.taskId, { after_seq: this.thread.seq, limit: PAGE });
      if (this.#gone) return;
      head = page.head_seq;
      if (head < this.thread.seq) {
        throw new EngineError("REPLACED", "This task was replaced. Reload the page.", { status: 409 });
      }
      for (const event of page.events) this.thread.apply(event as AsterEvent);
      if (page.events.length === 0) return;
      this.#changed();
    }
  }

  async #idle(): Promise<boolean> {
    const task = await this.engine.task(this.taskId);
    this.thread.waiting.clear();
    for (const row of task.inbox) this.thread.expect(row.message_id, row.message, row.mode);
    this.#changed();
    return task.active_turn_id === null && task.inbox.length === 0;
  }

  async #read(response: Response): Promise<number | null> {
    this.state.value = "live";
    let fresh = false;
    const stream = received(response, this.#leave.signal);
    for (;;) {
      const step = await stream.next();
      if (this.#gone) return null;
      if (step.done) return step.value ?? (fresh ? 0 : this.#patience.next());
      this.#patience.calm();
      // Others may have used the task since it was last read: what is missing in between is fetched first.
      if (!fresh && step.value.seq > this.thread.seq + 1) return 0;
      fresh = this.thread.apply(step.value) || fresh;
      this.#changed();
    }
  }

  #changed(): void {
    if (this.#drawn) return;
    this.#drawn = requestAnimationFrame(() => {
      this.#drawn = 0;
      this.phase.value = this.thread.phase;
      this.version.value += 1;
    });
  }
}
