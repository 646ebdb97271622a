// The events of a thread, in order, without gaps or doubles, over as many connections as it takes. The place on the
// thread is the last sequence number; every new connection asks for what comes after it.

import { EngineError } from "./errors.ts";
import { frames } from "./sse.ts";
import type { Transport } from "./transport.ts";
import type * as wire from "./wire.ts";

/** An event as it is on a thread: with its place and time. */
export type AsterEvent = wire.Event & { seq: number; task_id: string; timestamp: string };
export type Connection = "live" | "lost";

export const SILENCE_MS = 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
const FINAL = new Set(["completed", "errored", "cancelled"]);

export interface Following {
  signal?: AbortSignal;
  /** A stream that is open already. */
  response?: Response;
  /** How a stream is opened, where it is not the task's own. */
  source?: (afterSeq: number, signal: AbortSignal) => Promise<Response>;
  /** What becomes of the connection; nothing is lost while it is away. */
  onConnection?: (state: Connection) => void;
}

/** Whether an event ends this turn. */
export function ends(event: AsterEvent, turnId: string | null): boolean {
  return (
    event.type === "thread_lifecycle" &&
    !event.depth &&
    FINAL.has(event.phase) &&
    (turnId === null || event.turn_id === turnId)
  );
}

/** A pause that grows with every failure in a row, and is never quite the same for two clients. */
export class Patience {
  #failures = 0;

  calm(): void {
    this.#failures = 0;
  }

  next(least = 0): number {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
    return Math.max(least, wait * (0.5 + Math.random() / 2));
  }
}

/** The events of one open response; a `reconnect` ends it with how long to wait. */
export async function* received(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<AsterEvent, number | null> {
  if (response.body === null) return null;
  for await (const frame of frames(response.body, { signal, silenceMs: SILENCE_MS })) {
    const event = JSON.parse(frame.data) as AsterEvent;
    if (event.type === "reconnect") return event.retry_ms;
    if (event.type !== "heartbeat") yield event;
  }
  return null;
}

/** Follow a task from a place on, until the given turn ends or the signal is raised; with no turn, through all of them. */
export async function* follow(
  transport: Transport,
  taskId: string,
  afterSeq: number,
  turnId: string | null,
  {
    signal = new AbortController().signal,
    response,
    source = (from, until) => replay(transport, taskId, from, until),
    onConnection,
  }: Following = {},
): AsyncGenerator<AsterEvent, void> {
  const patience = new Patience();
  const place = { seq: afterSeq };
  let open = response ?? null;
  while (!signal.aborted) {
    let wait: number | null;
    try {
      open ??= await source(place.seq, signal);
      onConnection?.("live");
      wait = yield* fresh(open, place, turnId, patience, signal);
    } catch (error) {
      wait = signal.aborted ? null : borne(error, patience);
    }
    if (wait === null) return;
    open = null;
    onConnection?.("lost");
    await pause(wait, signal);
  }
}

/** What is new on an open stream; gives how long to wait before the next, null when the turn has ended. */
async function* fresh(
  response: Response,
  place: { seq: number },
  turnId: string | null,
  patience: Patience,
  signal: AbortSignal,
): AsyncGenerator<AsterEvent, number | null> {
  const stream = received(response, signal);
  for (;;) {
    const step = await stream.next();
    if (step.done) return step.value ?? patience.next();
    if (step.value.seq <= place.seq) continue;
    patience.calm();
    place.seq = step.value.seq;
    yield step.value;
    if (turnId !== null && ends(step.value, turnId)) return null;
  }
}

/** How long to wait after a failure that passes; any other is thrown on. */
function borne(error: unknown, patience: Patience): number {
  if (!(error instanceof EngineError) || !error.passing) throw error;
  return patience.next(error.retryAfterMs);
}

export function replay(
  transport: Transport,
  taskId: string,
  afterSeq: number,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { "Last-Event-ID": String(afterSeq) };
  return transport.open("GET", "/execute/replay", { query: { task_id: taskId }, headers, signal });
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      done();
    }
    signal.addEventListener("abort", finish);
  });
}
