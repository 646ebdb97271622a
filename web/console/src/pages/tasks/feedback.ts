// What was said of a task's turns. There is one opinion of each turn; said again it replaces what was said before.

import type { wire } from "@aster/client";
import { useEffect, useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";

const MOST = 500;

export interface Feedback {
  of: (turnId: string) => wire.SignalAnswer | undefined;
  say: (turnId: string, rating: number, text: string) => Promise<void>;
  takeBack: (turnId: string) => Promise<void>;
  error: unknown;
}

export function useFeedback(taskId: string): Feedback {
  const [said, setSaid] = useState<ReadonlyMap<string, wire.SignalAnswer>>(new Map());
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let gone = false;
    engine.get<wire.SignalPage>("/feedback", { target: "turn", task_id: taskId, limit: MOST }).then(
      ({ signals }) => gone || setSaid(new Map(signals.map((one) => [one.target_id, one]))),
      (problem: unknown) => gone || setError(problem),
    );
    return () => {
      gone = true;
    };
  }, [taskId]);

  async function change(turnId: string, send: () => Promise<wire.SignalAnswer | null>) {
    try {
      const kept = await send();
      setError(null);
      setSaid((was) => {
        const now = new Map(was);
        if (kept) now.set(turnId, kept);
        else now.delete(turnId);
        return now;
      });
    } catch (problem) {
      setError(problem);
    }
  }
  return {
    error,
    of: (turnId) => said.get(turnId),
    say: (turnId, rating, text) =>
      change(turnId, () => engine.post("/feedback", { turn_id: turnId, task_id: taskId, rating, text })),
    takeBack: (turnId) =>
      change(turnId, async () => {
        const id = encodeURIComponent(said.get(turnId)?.signal_id ?? "");
        await engine.transport.json("DELETE", `/feedback/${id}`);
        return null;
      }),
  };
}
