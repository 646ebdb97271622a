// The conversation as it was when so many events had happened. Forward it folds on; back it folds again from the start,
// which is quick enough for thousands of events.

import type { AsterEvent } from "@aster/client";
import { Thread } from "../../thread/thread.ts";

export class Replay {
  #thread = new Thread();
  #applied = 0;

  constructor(readonly events: readonly AsterEvent[]) {}

  at(count: number): Thread {
    if (count < this.#applied) {
      this.#thread = new Thread();
      this.#applied = 0;
    }
    for (; this.#applied < Math.min(count, this.events.length); this.#applied += 1) {
      this.#thread.apply(this.events[this.#applied] as AsterEvent);
    }
    return this.#thread;
  }
}
