import type { wire } from "@aster/client";
import { count, money, short } from "../../lib/words.ts";
import css from "./totals.module.css";
import { cached } from "./usage.ts";

/** What all of it comes to. */
export function Totals({ total }: { total: wire.Amounts }) {
  const facts: [name: string, value: string, more: string][] = [
    [
      "Cost",
      money(total.cost_usd),
      total.unpriced_calls ? `${count(total.unpriced_calls)} calls without a known price` : "",
    ],
    ["Model calls", count(total.calls), ""],
    ["Tokens in", short(total.input_tokens), `${Math.round(100 * cached(total))} % from the cache`],
    ["Tokens out", short(total.output_tokens), ""],
  ];
  return (
    <dl class={css.totals}>
      {facts.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd class={css.more}>{more}</dd>
        </div>
      ))}
    </dl>
  );
}
