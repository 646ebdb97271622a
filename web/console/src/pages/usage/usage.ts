// Usage as the route tells it, and what the charts need of it: every day of a span, also those on which nothing was used.

import type { wire } from "@aster/client";
import { span } from "../../lib/days.ts";
import { engine } from "../../lib/engine.ts";

export type Group = "model" | "task" | "user";

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

/** How much of the input came from a cache, from 0 to 1. */
export const cached = (row: wire.Amounts): number =>
  row.input_tokens ? row.cache_read_tokens / row.input_tokens : 0;
