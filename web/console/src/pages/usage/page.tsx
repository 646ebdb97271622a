// Usage: what model calls cost and used, by day and by what it was for, and the budgets that hold it in bounds.

import { useState } from "preact/hooks";
import { about } from "../../lib/about.ts";
import { span } from "../../lib/days.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { Card, Loading, Page, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Breakdown } from "./breakdown.tsx";
import { Budgets } from "./budgets.tsx";
import { Chart } from "./chart.tsx";
import { DayTable } from "./day-table.tsx";
import css from "./page.module.css";
import { Totals } from "./totals.tsx";
import { bars, type Group, type Measure, report } from "./usage.ts";

const SPANS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
] as const;
const MEASURES = [
  ["cost", "Cost"],
  ["tokens", "Tokens"],
  ["calls", "Calls"],
] as const;
const GROUPS = [
  ["model", "Model"],
  ["task", "Task"],
] as const;
const EVERYBODY = "*";

export default function UsagePage() {
  const [days, setDays] = useState<"7" | "30" | "90">("30");
  const [measure, setMeasure] = useState<Measure>("cost");
  const [group, setGroup] = useState<Group>("model");
  const [whose, setWhose] = useState<"mine" | "all">("mine");
  const operator = useLoaded(about, []).value?.operator === true;
  const query = { days: Number(days), user: whose === "all" ? EVERYBODY : null };
  const byDay = useLoaded(() => report("day", query), [days, whose]);
  const drawn = byDay.value ? bars(span(query.days), byDay.value.rows, measure) : [];
  return (
    <Page
      title="Usage"
      about="What model calls used and what they cost. Days are those of UTC."
      actions={
        <>
          {operator ? (
            <Segments
              label="Whose"
              value={whose}
              options={[
                ["mine", "Mine"],
                ["all", "Everybody"],
              ]}
              onChoose={(value) => {
                setWhose(value);
                if (value === "mine" && group === "user") setGroup("model");
              }}
            />
          ) : null}
          <Segments label="Time" value={days} options={SPANS} onChoose={setDays} />
        </>
      }
    >
      {byDay.error ? <Problem error={byDay.error} again={byDay.again} /> : null}
      {byDay.value ? <Totals total={byDay.value.total} /> : byDay.error ? null : <Loading />}
      {byDay.value ? (
        <Card
          title="By day"
          actions={<Segments label="Measure" value={measure} options={MEASURES} onChoose={setMeasure} />}
        >
          <Chart bars={drawn} measure={measure} />
          <DayTable bars={drawn} />
        </Card>
      ) : null}
      <div class={css.columns}>
        <Card
          title="Where it went"
          actions={
            <Segments
              label="By"
              value={group}
              options={whose === "all" ? [...GROUPS, ["user", "User"] as const] : GROUPS}
              onChoose={setGroup}
            />
          }
        >
          <Breakdown group={group} query={query} measure={measure} />
        </Card>
        <Budgets />
      </div>
    </Page>
  );
}
