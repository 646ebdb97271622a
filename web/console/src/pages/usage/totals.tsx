import type { wire } from "@aster/client";
import { count, money, short } from "../../lib/words.ts";
import { type Tile, Tiles } from "../../ui/tiles.tsx";
import { cached } from "./usage.ts";

/** What all of it comes to. */
export function Totals({ total }: { total: wire.Amounts }) {
  const tiles: Tile[] = [
    [
      "Cost",
      money(total.cost_usd),
      total.unpriced_calls ? `${count(total.unpriced_calls)} calls without a known price` : "",
    ],
    ["Model calls", count(total.calls), ""],
    ["Tokens in", short(total.input_tokens), `${Math.round(100 * cached(total))} % from the cache`],
    ["Tokens out", short(total.output_tokens), ""],
  ];
  return <Tiles tiles={tiles} />;
}
