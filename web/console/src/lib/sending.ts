// One request at a time that changes something, and what came of it when it failed.

import { useState } from "preact/hooks";

export interface Sending {
  sending: boolean;
  problem: unknown;
  /** Does it unless something is being done already; true when it was done. */
  send: (work: () => Promise<unknown>) => Promise<boolean>;
}

export function useSending(): Sending {
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  async function send(work: () => Promise<unknown>): Promise<boolean> {
    if (sending) return false;
    setSending(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    } finally {
      setSending(false);
    }
  }
  return { sending, problem, send };
}
