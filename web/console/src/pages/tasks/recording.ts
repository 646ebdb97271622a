// A task's whole thread as it was written, read page by page and then live while the task works. Every view of a task is
// made of these events and nothing else.

import { type AsterClient, type AsterEvent, ends } from "@aster/client";
import { signal } from "@preact/signals";
import { Timeline } from "./timeline.ts";

const PAGE = 1000;

export class Recording {
  readonly events: AsterEvent[] = [];
  readonly timeline = new Timeline();
  /** Grows at most once per frame, after events have come. */
  readonly version = signal(0);
  readonly loading = signal(true);
  readonly error = signal<unknown>(null);
  readonly #leave = new AbortController();
  #reading = false;
  #drawn = 0;

  constructor(
    readonly engine: AsterClient,
    readonly taskId: string,
  ) {}

  get seq(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  stop(): void {
    this.#leave.abort();
    cancelAnimationFrame(this.#drawn);
  }

  /** Read what there is, and on while the task works; does nothing if that is being done. */
  async read(): Promise<void> {
    if (this.#reading || this.#gone) return;
    this.#reading = true;
    this.error.value = null;
    try {
      await this.#stored();
      this.loading.value = false;
      await this.#live();
    } catch (error) {
      if (!this.#gone) this.error.value = error;
    } finally {
      this.#reading = false;
      this.loading.value = false;
    }
  }

  get #gone(): boolean {
    return this.#leave.signal.aborted;
  }

  async #stored(): Promise<void> {
    for (let head = Number.POSITIVE_INFINITY; this.seq < head && !this.#gone; ) {
      const page = await this.engine.events(this.taskId, { after_seq: this.seq, limit: PAGE });
      if (page.events.length === 0) return;
      head = page.head_seq;
      for (const event of page.events) this.#take(event as AsterEvent);
    }
  }

  async #live(): Promise<void> {
    const { active_turn_id: turn } = await this.engine.task(this.taskId);
    if (turn === null || this.#gone) return;
    for await (const event of this.engine.watch(this.taskId, this.seq, { signal: this.#leave.signal })) {
      this.#take(event);
      if (ends(event, turn)) return;
    }
  }

  #take(event: AsterEvent): void {
    if (this.#gone || event.seq <= this.seq) return;
    this.events.push(event);
    this.timeline.apply(event);
    if (this.#drawn) return;
    this.#drawn = requestAnimationFrame(() => {
      this.#drawn = 0;
      this.version.value += 1;
    });
  }
}

/** How many of the events had happened at a place on the thread. */
export function countAt(events: readonly { seq: number }[], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.seq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
