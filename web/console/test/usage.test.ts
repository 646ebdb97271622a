import type { wire } from "@aster/client";
import { expect, test } from "vitest";
import { marks, span } from "../src/lib/days.ts";
import { share } from "../src/pages/usage/budget.ts";
import { amount, bars, cached } from "../src/pages/usage/usage.ts";

const row = (key: string, more: Partial<wire.UsageRow> = {}) =>
  ({
    key,
    calls: 2,
    input_tokens: 90,
    output_tokens: 10,
    cache_read_tokens: 45,
    cost_usd: 0.5,
    ...more,
  }) as wire.UsageRow;

test("every day of the span has a bar, also those without use", () => {
  const days = span(3, Date.parse("2026-03-01T12:00:00Z"));
  expect(days).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  expect(bars(days, [row("2026-02-28")], "tokens").map(({ value }) => value)).toEqual([0, 100, 0]);
});

test("a cost that is not known counts as nothing, and a share of nothing as none", () => {
  expect(amount(row("x", { cost_usd: null }), "cost")).toBe(0);
  expect(cached(row("x"))).toBe(0.5);
  expect(cached(row("x", { input_tokens: 0 }))).toBe(0);
});

test("marks are round and reach the largest value", () => {
  expect(marks(0.97)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(marks(7)).toEqual([0, 2, 4, 6, 8]);
  expect(marks(0)).toEqual([0, 1]);
  for (const largest of [1e-7, 0.3, 13, 999, 1_234_567]) {
    const scale = marks(largest);
    expect(scale.at(-1)).toBeGreaterThanOrEqual(largest);
    expect(scale.length).toBeLessThan(8);
  }
});

test("a budget of nothing is spent, one without a limit never is", () => {
  const budget = (limit_usd: number | null, spent_usd: number) => ({ limit_usd, spent_usd }) as wire.Budget;
  expect([share(budget(2, 1)), share(budget(0, 0)), share(budget(null, 9))]).toEqual([0.5, 1, 0]);
});
