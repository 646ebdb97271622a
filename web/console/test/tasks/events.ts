// Events for tests, with places and times that grow.

import type { AsterEvent, wire } from "@aster/client";

const BEGIN = Date.parse("2026-01-02T10:00:00.000Z");

type Said<T> = T extends { type: string } ? Omit<T, "seq" | "task_id" | "timestamp"> : never;
export type Part = Said<wire.Event> & { at?: number };

/** The events of a turn; `at` is when, in milliseconds after the beginning, else just after the one before. */
export function thread(parts: Part[], from = 1): AsterEvent[] {
  let time = 0;
  return parts.map(({ at, ...event }, index) => {
    time = at ?? time + 1;
    const frame = { task_id: "t", turn_id: "turn-1", seq: from + index };
    return { ...frame, ...event, timestamp: new Date(BEGIN + time).toISOString() } as AsterEvent;
  });
}

export const at = (ms: number): number => BEGIN + ms;

export const started: Part = { type: "thread_lifecycle", phase: "started", at: 0 };
export const said = (text: string): Part => ({
  type: "user_message",
  message_id: `m-${text}`,
  content: [{ type: "text", text }],
});
export const block = (text: string, step = 1): Part => ({
  ...{ type: "content_block_stop", block_index: 0, block_type: "text", step },
  block: { type: "text", text },
});
export const usage = (step: number, more: Partial<wire.Usage> & { at?: number } = {}): Part => ({
  ...{ type: "usage", step, message_id: `a${step}`, model: "small", stop_reason: "end_turn" },
  ...{ input_tokens: 100, output_tokens: 10, cache_hit_tokens: 40, cost_usd: 0.5, ...more },
});
export const manifest = (step: number): Part => ({
  ...{ type: "context_manifest", step, entries: [], total_tokens: 100, model: "small" },
});
