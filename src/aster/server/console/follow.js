// Following one task: its thread page by page, then live over as many connections as it takes, with no gap and no
// duplicate. The place is the last sequence number on the thread; every new connection asks for what comes after.

import { EngineError } from "./api.js";
import { events } from "./sse.js";

const PAGE = 1000;
const SILENCE_MS = 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

export class Follower {
  #api;
  #on;
  #leave = new AbortController();
  #following = false;
  #again = false;
  #failures = 0;

  /** `on.change()` after every event, `on.state("live" | "lost" | "idle")`, `on.error(error)` when it gives up. */
  constructor(api, taskId, thread, on) {
    this.#api = api;
    this.#on = on;
    this.taskId = taskId;
    this.thread = thread;
  }

  get #gone() {
    return this.#leave.signal.aborted;
  }

  stop() {
    this.#leave.abort();
  }

  /** Hands a message over and follows what comes of it; throws when the engine does not take it. */
  async send(message, mode) {
    const body = { message, task_id: this.taskId, on_busy: mode };
    const response = await this.#api.open("POST", "/execute", { body });
    if (this.#gone) return void response.body.cancel();
    this.thread.expect(response.headers.get("X-Message-ID"), message, this.thread.running ? mode : null);
    this.#on.change();
    if (!this.#following) return void this.follow(response);
    this.#again = true;
    response.body.cancel();
  }

  /** Reads on until the task is idle, taking up again what breaks; `response` is a stream that is open already. */
  async follow(response = null) {
    if (this.#following || this.#gone) return;
    this.#following = true;
    try {
      for (let wait = 0; wait !== null || this.#again; response = null) {
        this.#again = false;
        if (wait) await new Promise((done) => setTimeout(done, wait));
        if (this.#gone) return;
        wait = await this.#attempt(response);
      }
      if (!this.#gone) this.#on.state("idle");
    } catch (error) {
      if (!this.#gone) this.#on.error(error);
    } finally {
      this.#following = false;
    }
  }

  /** How long to wait before the next attempt; null when there is nothing left to follow. */
  async #attempt(response) {
    try {
      if (response) return await this.#read(response);
      await this.#catchUp();
      if (await this.#idle()) return null;
      const query = { task_id: this.taskId };
      const headers = { "Last-Event-ID": String(this.thread.seq) };
      const signal = this.#leave.signal;
      return await this.#read(await this.#api.open("GET", "/execute/replay", { query, headers, signal }));
    } catch (error) {
      if (this.#gone) return null;
      if (error.code === "TASK_NOT_FOUND" && this.thread.seq === 0) return null;
      if (!error.passing) throw error;
      this.#on.state("lost");
      return Math.max(this.#backOff(), error.retryAfterMs);
    }
  }

  async #catchUp() {
    for (let head = Infinity; this.thread.seq < head; ) {
      const query = { after_seq: this.thread.seq, limit: PAGE };
      const page = await this.#api.get(`/tasks/${encodeURIComponent(this.taskId)}/events`, query);
      if (this.#gone) return;
      head = page.head_seq;
      if (head < this.thread.seq) throw new EngineError("REPLACED", "This task was replaced. Reload the page.");
      page.events.forEach((event) => this.thread.apply(event));
      if (page.events.length === 0) return;
      this.#on.change();
    }
  }

  async #idle() {
    const task = await this.#api.get(`/tasks/${encodeURIComponent(this.taskId)}`);
    this.thread.waiting.clear();
    for (const row of task.inbox) this.thread.expect(row.message_id, row.message, row.mode);
    this.#on.change();
    return task.active_turn_id === null && task.inbox.length === 0;
  }

  async #read(response) {
    this.#on.state("live");
    let fresh = false;
    for await (const event of events(response.body, { signal: this.#leave.signal, silenceMs: SILENCE_MS })) {
      if (this.#gone) return null;
      this.#failures = 0;
      if (event.type === "reconnect") {
        this.#on.state("lost");
        return event.retry_ms;
      }
      if (event.type === "heartbeat") continue;
      // Others may have used the task since it was last read: what is missing in between is fetched first.
      if (!fresh && event.seq > this.thread.seq + 1) return 0;
      fresh = this.thread.apply(event) || fresh;
      this.#on.change();
    }
    return fresh ? 0 : this.#backOff();
  }

  #backOff() {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
    return wait * (0.5 + Math.random() / 2);
  }
}
