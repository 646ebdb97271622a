import { named } from "../../lib/days.ts";
import { count, money, short } from "../../lib/words.ts";
import { Figure, Table } from "../../ui/table.tsx";
import css from "./day-table.module.css";
import type { Bar } from "./usage.ts";

/** The chart in numbers; days without use are left out. */
export function DayTable({ bars }: { bars: Bar[] }) {
  const used = bars.filter(({ row }) => row !== null).toReversed();
  return (
    <details class={css.days}>
      <summary>As a table</summary>
      <Table label="Usage by day" head={["Day", "#Cost", "#Calls", "#Tokens in", "#Tokens out"]}>
        {used.map(({ day, row }) => (
          <tr key={day}>
            <td>
              <time dateTime={day}>{named(day)}</time>
            </td>
            <Figure>{money(row?.cost_usd)}</Figure>
            <Figure>{count(row?.calls ?? 0)}</Figure>
            <Figure>{short(row?.input_tokens ?? 0)}</Figure>
            <Figure>{short(row?.output_tokens ?? 0)}</Figure>
          </tr>
        ))}
      </Table>
    </details>
  );
}
