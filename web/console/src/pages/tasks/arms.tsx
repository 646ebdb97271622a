// Both runs in numbers, side by side. What they used counts from where the replay begins.

import type { wire } from "@aster/client";
import { count, duration, money, short } from "../../lib/words.ts";
import { Status } from "../../ui/badge.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import type { Report } from "./again-routes.ts";
import css from "./arms.module.css";

type Arm = wire.ArmAnswer;

const NUMBERS: readonly (readonly [
  name: string,
  of: (arm: Arm) => number,
  shown: (value: number) => string,
])[] = [
  ["Model calls", (arm) => arm.steps, count],
  ["Tool calls", (arm) => arm.calls, count],
  ["Not on record", (arm) => arm.unrecorded, count],
  ["Failed tool calls", (arm) => arm.tool_errors, count],
  ["Tokens in", (arm) => arm.input_tokens, short],
  ["Tokens out", (arm) => arm.output_tokens, short],
  ["Cost", (arm) => arm.cost_usd, money],
  ["Waited for models", (arm) => arm.model_ms, duration],
  ["Whole turn", (arm) => 1000 * arm.seconds, duration],
];

/** How much more or less the second is, in per cent. */
export function change(before: number, after: number): string {
  if (before === after) return "–";
  if (before === 0) return "new";
  const share = Math.round((100 * (after - before)) / before);
  return `${share > 0 ? "+" : ""}${share} %`;
}

export function Arms({ report: { recorded, replayed } }: { report: Report }) {
  return (
    <Table label="Both runs" head={["Of the run", "#Recorded", "#Replayed", "#Difference"]}>
      <tr>
        <td>Model</td>
        <Figure>{recorded.model || "–"}</Figure>
        <Figure>{replayed.model || "–"}</Figure>
        <Figure>{recorded.model === replayed.model ? "–" : "another"}</Figure>
      </tr>
      <tr>
        <td>Ended</td>
        <Figure>
          <Ended arm={recorded} />
        </Figure>
        <Figure>
          <Ended arm={replayed} />
        </Figure>
        <Figure>{recorded.status === replayed.status ? "–" : "otherwise"}</Figure>
      </tr>
      {NUMBERS.filter(([, of]) => of(recorded) || of(replayed)).map(([name, of, shown]) => (
        <tr key={name}>
          <td>{name}</td>
          <Figure>{shown(of(recorded))}</Figure>
          <Figure>{shown(of(replayed))}</Figure>
          <Figure>{change(of(recorded), of(replayed))}</Figure>
        </tr>
      ))}
    </Table>
  );
}

function Ended({ arm }: { arm: Arm }) {
  const reason = arm.error ?? (arm.stop_reason === "end_turn" ? null : arm.stop_reason);
  return (
    <span class={css.ended}>
      <Status value={arm.status} />
      {reason ? <span class={css.reason}>{reason.replaceAll("_", " ").toLowerCase()}</span> : null}
    </span>
  );
}
