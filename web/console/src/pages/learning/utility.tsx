// What learning was good for, day by day: how often it was used, how it was rated, and what was learned at all.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { named, span } from "../../lib/days.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { count } from "../../lib/words.ts";
import { type Day, DayChart } from "../../ui/day-chart.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import { learning } from "./learning.ts";
import css from "./utility.module.css";

const MEASURES = [
  ["uses", "Uses"],
  ["ratings", "Ratings"],
  ["learned", "Learned"],
] as const;
const SPANS = [
  ["30", "30 days"],
  ["90", "90 days"],
] as const;

export type Measure = (typeof MEASURES)[number][0];
type Row = Omit<wire.UtilityDay, "day">;
interface Drawn extends Day {
  row: Row;
}

const NOTHING: Row = {
  ...{ learned: 0, refused: 0, reverted: 0, promoted: 0, retired: 0, uses: 0, helpful: 0, harmful: 0 },
};

/** What hangs above and below the line of a day. */
export function drawn(day: string, row: Row, measure: Measure): Drawn {
  if (measure === "uses") return { day, row, up: [{ tone: "accent", value: row.uses }] };
  if (measure === "ratings")
    return {
      ...{ day, row, up: [{ tone: "good", value: row.helpful }] },
      down: [{ tone: "bad", value: row.harmful }],
    };
  return {
    ...{ day, row, up: [{ tone: "accent", value: row.learned }] },
    down: [
      { tone: "soft", value: row.refused },
      { tone: "bad", value: row.reverted },
    ],
  };
}

const LEGENDS: Record<
  Measure,
  readonly (readonly [tone: "accent" | "good" | "bad" | "soft", words: string])[]
> = {
  ratings: [
    ["good", "rated helpful"],
    ["bad", "rated harmful"],
  ],
  uses: [["accent", "turns that had something learned in their context"]],
  learned: [
    ["accent", "learned"],
    ["soft", "refused by a check"],
    ["bad", "reverted"],
  ],
};

const NONE: Record<Measure, string> = {
  ratings: "Nothing learned was rated in this time",
  uses: "Nothing learned was used in this time",
  learned: "Nothing was learned in this time",
};

function told(row: Row, measure: Measure): string {
  if (measure === "uses") return `${count(row.uses)} uses`;
  if (measure === "ratings") return `${count(row.helpful)} helpful, ${count(row.harmful)} harmful`;
  return `${count(row.learned)} learned, ${count(row.refused)} refused, ${count(row.reverted)} reverted`;
}

export function Utility({ version }: { version: number }) {
  const [measure, setMeasure] = useState<Measure>("uses");
  const [days, setDays] = useState<"30" | "90">("30");
  const found = useLoaded(() => learning.utility(Number(days)), [days, version]);
  return (
    <Card
      title="What it was good for"
      actions={
        <>
          <Segments label="Measure" value={measure} options={MEASURES} onChoose={setMeasure} />
          <Segments label="Time" value={days} options={SPANS} onChoose={setDays} />
        </>
      }
    >
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.value ? (
        <Graph rows={found.value.days} days={Number(days)} measure={measure} />
      ) : found.error ? null : (
        <Loading />
      )}
    </Card>
  );
}

function Graph({ rows, days, measure }: { rows: wire.UtilityDay[]; days: number; measure: Measure }) {
  if (rows.length === 0)
    return (
      <Empty title="Nothing was learned in this time">
        Here you will see day by day whether what was learned made answers better.
      </Empty>
    );
  const known = new Map(rows.map((row) => [row.day, row]));
  const bars = span(days).map((day) => drawn(day, known.get(day) ?? NOTHING, measure));
  const none = bars.every(({ up, down = [] }) => [...up, ...down].every(({ value }) => value === 0));
  return (
    <>
      {none ? (
        <Empty title={NONE[measure]} />
      ) : (
        <>
          <DayChart days={bars} shown={count} tell={({ row }) => told(row, measure)} least={1} />
          <ul class={css.legend}>
            {LEGENDS[measure].map(([tone, words]) => (
              <li key={words}>
                <span class={css[tone]} aria-hidden="true" /> {words}
              </li>
            ))}
          </ul>
        </>
      )}
      <details class={css.table}>
        <summary>As a table</summary>
        <Table
          label="Utility by day"
          head={[
            "Day",
            ...[
              "#Uses",
              "#Helpful",
              "#Harmful",
              "#Learned",
              "#Refused",
              "#Reverted",
              "#Promoted",
              "#Retired",
            ],
          ]}
        >
          {rows.map((row) => (
            <tr key={row.day}>
              <td>
                <time dateTime={row.day}>{named(row.day)}</time>
              </td>
              <Figure>{count(row.uses)}</Figure>
              <Figure>{count(row.helpful)}</Figure>
              <Figure>{count(row.harmful)}</Figure>
              <Figure>{count(row.learned)}</Figure>
              <Figure>{count(row.refused)}</Figure>
              <Figure>{count(row.reverted)}</Figure>
              <Figure>{count(row.promoted)}</Figure>
              <Figure>{count(row.retired)}</Figure>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
