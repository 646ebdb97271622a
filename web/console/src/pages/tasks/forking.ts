// A new task that begins where this one stood, opened in the chat.

import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";
import { refresh } from "../../lib/tasks.ts";

export interface Forking {
  fork: (seq: number) => void;
  error: unknown;
}

export function useFork(taskId: string): Forking {
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>(null);
  async function run(seq: number) {
    setError(null);
    try {
      const made = await engine.fork(taskId, { seq });
      void refresh();
      navigate(chatOf(made.task_id));
    } catch (problem) {
      setError(problem);
    }
  }
  return { fork: (seq) => void run(seq), error };
}
