// The model calls of a task, of which two are chosen.

import type { wire } from "@aster/client";
import { count, exactly } from "../../lib/words.ts";
import css from "./call-table.module.css";
import panel from "./panel.module.css";
import { cacheShare } from "./steps.ts";

export interface Chosen {
  from: number | null;
  to: number | null;
}

interface Props {
  calls: wire.ContextCall[];
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
}

const SIDES = [
  ["from", "A"],
  ["to", "B"],
] as const;

export function CallTable({ calls, chosen, onChoose }: Props) {
  return (
    <div class={`${panel.frame} ${css.frame}`}>
      <table class={panel.table}>
        <thead>
          <tr>
            {SIDES.map(([side, name]) => (
              <th key={side} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">Call</th>
            <th scope="col">Model</th>
            <th scope="col" class={panel.number}>
              Prompt
            </th>
            <th scope="col" class={panel.number}>
              Counted
            </th>
            <th scope="col" class={panel.number}>
              From cache
            </th>
            <th scope="col">Moved</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.call}>
              {SIDES.map(([side, name]) => (
                <td key={side}>
                  <input
                    type="radio"
                    name={`side-${side}`}
                    aria-label={`Call ${call.call} as ${name}`}
                    checked={chosen[side] === call.call}
                    onChange={() => onChoose({ ...chosen, [side]: call.call })}
                  />
                </td>
              ))}
              <td class={css.call} title={exactly(call.at)}>
                <strong>{call.call}</strong> step {call.step}
              </td>
              <td class={panel.soft}>{call.model}</td>
              <td class={panel.number}>{count(call.total_tokens)}</td>
              <td class={panel.number}>{count(call.input_tokens)}</td>
              <td class={panel.number}>{shareOf(call)}</td>
              <td class={panel.soft}>{call.moved ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function shareOf({ input_tokens: input, cached_tokens: cached }: wire.ContextCall): string {
  const share = cacheShare({ input, cached });
  return share === null ? "–" : `${share} %`;
}
