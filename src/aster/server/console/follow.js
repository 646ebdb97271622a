// Following one task: its thread page by page, then live over as many connections as it takes, with no gap and no
// duplicate. The place is the last sequence number on the thread; every new connection asks for what comes after.

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

  get #path() {
    return `/tasks/${encodeURIComponent(this.taskId)}`;
  }

  stop() {
    this.#leave.abort();
  }

  /** Everything so far, then live if the task runs. */
  async open() {
    await this.#persist(async () => {
      await this.#pages();
      return this.#idle();
    });
  }

  /** Look for what others did to the task since; nothing to do while it is followed anyway. */
  async refresh() {
    if (!this.#following && !this.#gone) await this.open();
  }

  /** Hands a message over; throws when the engine does not take it. */
  async send(message, mode) {
    const body = { message, task_id: this.taskId, on_busy: mode };
    const response = await this.#api.open("POST", "/execute", { body });
    if (this.#gone) return void response.body.cancel();
    this.thread.expect(response.headers.get("X-Message-ID"), message, mode);
    this.#on.change();
    if (this.#following) {
      this.#again = true;
      return void response.body.cancel();
    }
    this.#persist(() => this.#read(response));
  }

  /** One piece of work, then the live stream, until the task is idle: whatever breaks on the way is taken up again. */
  async #persist(first) {
    if (this.#following) return;
    this.#following = true;
    let work = first;
    try {
      for (;;) {
        const wait = await this.#attempt(work);
        if (this.#gone) return;
        if (wait === true && !this.#again) return this.#on.state("idle");
        this.#again = false;
        await pause(wait === true ? 0 : wait);
        if (this.#gone) return;
        work = first === work && this.thread.seq === 0 ? work : () => this.#replay();
        if (first === work && wait !== true) work = () => this.#reload();
      }
    } catch (error) {
      if (!this.#gone) this.#on.error(error);
    } finally {
      this.#following = false;
    }
  }
}
