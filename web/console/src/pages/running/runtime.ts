// The routes of what runs beside the turns, by name, where it is shown, and the words and colours for how it stands.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import { duration } from "../../lib/words.ts";
import type { Tone } from "../../ui/badge.tsx";

export type RuntimeTask = wire.RuntimeTaskAnswer;

const path = (id: string, more = ""): string => `/runtime/${encodeURIComponent(id)}${more}`;
export const runningOf = (id: string): string => `/running/${encodeURIComponent(id)}`;

export const runtime = {
  list: (query: { status: string | null; kind: string | null; after: string | null }) =>
    engine.get<wire.RuntimePage>("/runtime", query),
  found: (id: string) => engine.get<RuntimeTask>(path(id)),
  kill: (id: string) => engine.post<RuntimeTask>(path(id, "/kill")),
  stream: (id: string, offset: number, signal: AbortSignal) =>
    engine.transport.open("GET", path(id, "/stream"), { query: { offset }, signal }),
};

export const STATUSES: Record<RuntimeTask["status"], readonly [words: string, tone: Tone]> = {
  running: ["runs", "info"],
  stalled: ["waits for an answer", "warn"],
  completed: ["done", "good"],
  failed: ["failed", "bad"],
  killed: ["killed", "plain"],
  timeout: ["ran out of time", "bad"],
  lost: ["lost", "bad"],
};

export const live = ({ status }: Pick<RuntimeTask, "status">): boolean =>
  status === "running" || status === "stalled";

/** How long it ran, or has been running. */
export const lasted = ({ started_at, ended_at }: RuntimeTask, now = Date.now()): string =>
  duration(Math.max(0, (ended_at ? Date.parse(ended_at) : now) - Date.parse(started_at)));
