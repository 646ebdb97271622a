// What the span is made of: by model, by task, and by user where the key allows it.

import type { wire } from "@aster/client";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { recent } from "../../lib/tasks.ts";
import { ago, count, money, short } from "../../lib/words.ts";
import { Meter } from "../../ui/meter.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import css from "./breakdown.module.css";
import { amount, cached, type Group, type Measure, type Query, report } from "./usage.ts";

interface Props {
  group: Group;
  query: Query;
  measure: Measure;
}

const NAMES: Record<Group, string> = { model: "Model", task: "Task", user: "User" };

export function Breakdown({ group, query, measure }: Props) {
  const found = useLoaded(() => report(group, query), [group, query.days, query.user]);
  if (found.error) return <Problem error={found.error} again={found.again} />;
  if (found.value === null || found.value.group !== group) return <Loading />;
  const rows = found.value.rows.toSorted((a, b) => amount(b, measure) - amount(a, measure));
  if (rows.length === 0) return <Empty title="Nothing was used in this time" />;
  const most = amount(rows[0] as wire.UsageRow, measure) || 1;
  return (
    <Table
      label={`Usage by ${group}`}
      head={[NAMES[group], "Share", "#Cost", "#Calls", "#In", "#Cached", "#Out", "#Last"]}
    >
      {rows.map((row) => (
        <tr key={`${row.user_id} ${row.key}`}>
          <td class={css.name}>
            <Name group={group} row={row} />
          </td>
          <td class={css.share}>
            <Meter label="Share" value={amount(row, measure) / most} />
          </td>
          <Figure>{money(row.cost_usd)}</Figure>
          <Figure>{count(row.calls)}</Figure>
          <Figure>{short(row.input_tokens)}</Figure>
          <Figure>{Math.round(100 * cached(row))} %</Figure>
          <Figure>{short(row.output_tokens)}</Figure>
          <Figure>{ago(row.last_at)}</Figure>
        </tr>
      ))}
    </Table>
  );
}

function Name({ group, row }: { group: Group; row: wire.UsageRow }) {
  if (group !== "task" || !row.task_id) return <>{row.key || "–"}</>;
  const title = recent.value.find(({ task_id }) => task_id === row.task_id)?.title;
  return <Link href={taskOf(row.task_id)}>{title || row.task_id}</Link>;
}
