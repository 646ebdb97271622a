// The model connection put to the test by a real turn: what was answered, how long it took and what it cost. The task of
// the test is deleted when it is over.

import type { AsterEvent, wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";

export interface Trial {
  state: "asking" | "answered" | "failed";
  text: string;
  /** What is waited for, while the engine makes a model of its own ready. */
  waits: string | null;
  share: number | null;
  model: string | null;
  cost: number | null;
  firstMs: number | null;
  ms: number | null;
  problem: string | null;
}

export const BEGUN: Trial = {
  state: "asking",
  text: "",
  waits: null,
  share: null,
  model: null,
  cost: null,
  firstMs: null,
  ms: null,
  problem: null,
};
const QUESTION = "Say in one short sentence that you are ready.";

/** How the test stands after one more event. */
export function after(trial: Trial, event: AsterEvent): Trial {
  switch (event.type) {
    case "text_delta":
      return { ...trial, text: trial.text + event.text, waits: null };
    case "model_progress":
      return { ...trial, ...progress(event) };
    case "usage":
      return { ...trial, ...used(trial, event) };
    case "error":
      return { ...trial, problem: event.message };
    case "thread_lifecycle":
      return { ...trial, state: STATES[event.phase] ?? trial.state };
    default:
      return trial;
  }
}

const STATES: Partial<Record<wire.Phase, Trial["state"]>> = {
  completed: "answered",
  errored: "failed",
  cancelled: "failed",
};

function progress({ stage, text, done_bytes, total_bytes }: wire.ModelProgress): Partial<Trial> {
  return {
    waits: stage === "ready" ? null : text,
    share: total_bytes ? (done_bytes ?? 0) / total_bytes : null,
  };
}

function used(trial: Trial, { model, cost_usd, first_token_ms }: wire.Usage): Partial<Trial> {
  return {
    model,
    cost: typeof cost_usd === "number" ? (trial.cost ?? 0) + cost_usd : trial.cost,
    firstMs: trial.firstMs ?? first_token_ms ?? null,
  };
}

export async function tryModel(tell: (trial: Trial) => void, signal: AbortSignal): Promise<void> {
  const taskId = `model-check-${crypto.randomUUID()}`;
  const begun = performance.now();
  let trial = BEGUN;
  tell(trial);
  try {
    const turn = await engine.execute(
      { task_id: taskId, message: QUESTION, direct: true, permission_mode: "plan", subagents: false },
      { signal },
    );
    for await (const event of turn) {
      trial = after(trial, event);
      tell(trial);
    }
  } catch (error) {
    if (signal.aborted) return;
    trial = { ...trial, state: "failed", problem: error instanceof Error ? error.message : String(error) };
  }
  tell({ ...trial, ms: performance.now() - begun });
  await engine.remove(taskId).catch(() => undefined);
}
