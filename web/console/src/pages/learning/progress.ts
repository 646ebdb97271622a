// What learning tells on its thread, as it happens: the newest notes, and a number that grows when something was learned
// or decided, for whatever is shown of it.

import { type AsterEvent, EngineError } from "@aster/client";
import { useEffect, useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";

const THREAD = "aster.learning";
const RECENT = 60;
const SHOWN = 40;

export type Note = Extract<AsterEvent, { type: "learning_update" }>;

export interface Progress {
  /** The newest first. */
  notes: readonly Note[];
  /** The place of the newest note that changed anything, and of the newest that a piece of learning ended with. */
  version: number;
  learned: number;
  error: unknown;
}

/** How far the thread is; it begins with the first thing that is learned. */
async function head(): Promise<number> {
  try {
    return (await engine.events(THREAD, { limit: 1 })).head_seq;
  } catch (error) {
    if (error instanceof EngineError && error.code === "TASK_NOT_FOUND") return 0;
    throw error;
  }
}

/** With one more event; what was there at the beginning (up to `known`) changes nothing that is shown. */
export function noted(was: Progress, event: AsterEvent, known: number): Progress {
  if (event.type !== "learning_update") return was;
  const notes = [event, ...was.notes].slice(0, SHOWN);
  if (event.phase === "started" || event.seq <= known) return { ...was, notes };
  const learned = event.phase === "decided" ? was.learned : event.seq;
  return { ...was, notes, version: event.seq, learned };
}

export function useProgress(): Progress {
  const [progress, setProgress] = useState<Progress>({ notes: [], version: 0, learned: 0, error: null });
  useEffect(() => {
    const leave = new AbortController();
    async function watch() {
      const known = await head();
      const from = Math.max(0, known - RECENT);
      for await (const event of engine.learning(from, { signal: leave.signal }))
        setProgress((was) => noted(was, event, known));
    }
    watch().catch((error: unknown) => {
      if (!leave.signal.aborted) setProgress((was) => ({ ...was, error }));
    });
    return () => leave.abort();
  }, []);
  return progress;
}
