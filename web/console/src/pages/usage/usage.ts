// Usage as the route tells it, and what the charts need of it: every day of a span, also those on which nothing was used.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";

export type Group = "model" | "task" | "user";
const DAY_MS = 86_400_000;

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The days of the last `days` days, today included, oldest first; days are those of UTC, as budgets have them. */
export function span(days: number, now = Date.now()): string[] {
  return Array.from({ length: days }, (_, at) => dayOf(now - (days - 1 - at) * DAY_MS));
}

export interface Query {
  days: number;
  user: string | null;
}

export const report = (group: Group | "day", { days, user }: Query) =>
  engine.get<wire.UsageReport>("/usage", {
    group,
    from: span(days)[0] ?? null,
    user,
    limit: group === "day" ? 400 : 100,
  });

export type Measure = "cost" | "tokens" | "calls";

/** What a row comes to by a measure. */
export function amount(row: wire.Amounts, measure: Measure): number {
  if (measure === "cost") return row.cost_usd ?? 0;
  if (measure === "calls") return row.calls;
  return row.input_tokens + row.output_tokens;
}

export interface Bar {
  day: string;
  value: number;
  row: wire.UsageRow | null;
}

export function bars(days: string[], rows: wire.UsageRow[], measure: Measure): Bar[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  return days.map((day) => {
    const row = known.get(day) ?? null;
    return { day, row, value: row ? amount(row, measure) : 0 };
  });
}

const STEPS = [1, 2, 2.5, 5, 10];

/** Round marks from zero to at least the largest value. */
export function marks(largest: number, most = 4): number[] {
  if (largest <= 0) return [0, 1];
  const rough = largest / most;
  const scale = 10 ** Math.floor(Math.log10(rough));
  const step = scale * (STEPS.find((one) => one * scale >= rough) ?? 10);
  const many = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: many + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** How much of the input came from a cache, from 0 to 1. */
export const cached = (row: wire.Amounts): number =>
  row.input_tokens ? row.cache_read_tokens / row.input_tokens : 0;
