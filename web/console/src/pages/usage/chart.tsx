import { money, short } from "../../lib/words.ts";
import { DayChart } from "../../ui/day-chart.tsx";
import type { Bar, Measure } from "./usage.ts";

/** What was used, day by day. */
export function Chart({ bars, measure }: { bars: Bar[]; measure: Measure }) {
  const shown = (value: number): string => (measure === "cost" ? money(value) : short(value));
  const days = bars.map(({ day, value }) => ({ day, up: [{ tone: "accent" as const, value }] }));
  return <DayChart days={days} shown={shown} tell={({ up }) => shown(up[0]?.value ?? 0)} />;
}
