// Days (those of UTC, as budgets have them) and how they are drawn: every day of a span, and round marks beside them.

const DAY_MS = 86_400_000;
const STEPS = [1, 2, 2.5, 5, 10];
const date = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
export const named = (day: string): string => date.format(new Date(`${day}T00:00:00Z`));

/** The days of the last `days` days, today included, oldest first. */
export function span(days: number, now = Date.now()): string[] {
  return Array.from({ length: days }, (_, at) => dayOf(now - (days - 1 - at) * DAY_MS));
}

/** Round marks from zero to at least the largest value, at least `least` apart. */
export function marks(largest: number, most = 4, least = 0): number[] {
  if (largest <= 0) return [0, 1];
  const rough = largest / most;
  const scale = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, scale * (STEPS.find((one) => one * scale >= rough) ?? 10));
  const many = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: many + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}
