// What something in the background says, as it says it: over as many connections as that takes, with no gap and no double.
// The place is an offset in characters; only the newest of a very long output is kept here.

import { EngineError, frames, Patience, pause, SILENCE_MS } from "@aster/client";
import { type Signal, signal } from "@preact/signals";
import { type RuntimeTask, runtime } from "./runtime.ts";

export const MOST_CHARS = 200_000;

/** Something that is said, put behind what was said before. */
export const joined = (was: string, more: string, most = MOST_CHARS): string => (was + more).slice(-most);

export class Output {
  readonly text: Signal<string> = signal("");
  readonly task: Signal<RuntimeTask | null> = signal(null);
  readonly state: Signal<"live" | "lost" | "over"> = signal("live");
  readonly error: Signal<unknown> = signal(null);
  readonly #leave = new AbortController();
  readonly #patience = new Patience();
  #offset = 0;
  #waiting = "";
  #drawn = 0;

  constructor(readonly id: string) {}

  stop(): void {
    this.#leave.abort();
    cancelAnimationFrame(this.#drawn);
  }

  /** Reads on until it has ended, taking up again what breaks. */
  async follow(): Promise<void> {
    const { signal: leaving } = this.#leave;
    while (!leaving.aborted) {
      try {
        const wait = await this.#read(leaving);
        if (wait === null) return;
        await pause(wait, leaving);
      } catch (error) {
        if (leaving.aborted) return;
        if (!(error instanceof EngineError) || !error.passing) {
          this.error.value = error;
          return;
        }
        this.state.value = "lost";
        await pause(this.#patience.next(error.retryAfterMs), leaving);
      }
    }
  }

  /** One connection; how long to wait before the next, null when it has ended. */
  async #read(leaving: AbortSignal): Promise<number | null> {
    const response = await runtime.stream(this.id, this.#offset, leaving);
    this.state.value = "live";
    if (response.body === null) return this.#patience.next();
    for await (const { event, data } of frames(response.body, { signal: leaving, silenceMs: SILENCE_MS })) {
      this.#patience.calm();
      const told = JSON.parse(data) as Record<string, unknown>;
      if (event === "runtime_output") this.#write(String(told.text ?? ""), Number(told.next_offset));
      else if (event === "runtime_status") this.task.value = told as unknown as RuntimeTask;
      else if (event === "runtime_end") return this.#end(told as unknown as RuntimeTask);
      else if (event === "reconnect") return Number(told.retry_ms ?? 0);
    }
    return this.#patience.next();
  }

  #end(task: RuntimeTask): null {
    this.task.value = task;
    this.state.value = "over";
    return null;
  }

  /** Drawn at most once per frame, however fast it is said. */
  #write(text: string, offset: number): void {
    this.#offset = offset;
    this.#waiting = joined(this.#waiting, text);
    if (this.#drawn) return;
    this.#drawn = requestAnimationFrame(() => {
      this.#drawn = 0;
      this.text.value = joined(this.text.value, this.#waiting);
      this.#waiting = "";
    });
  }
}
