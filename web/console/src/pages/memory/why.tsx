// Why a memory was found: the parts of its score, each against the best of the list.

import { Meter } from "../../ui/meter.tsx";
import type { Found } from "./memory.ts";
import css from "./why.module.css";

const PARTS: [name: string, label: string, about: string][] = [
  ["words", "words", "How well its words are those of the question"],
  ["cosine", "meaning", "How near it is in meaning"],
  ["tokens", "detail", "How near its single words are to those of the question"],
];

export type Best = { [part: string]: number };

/** The largest of each part, for bars that can be compared. */
export function bestOf(hits: Pick<Found, "reasons">[]): Best {
  const best: Best = {};
  for (const { reasons } of hits)
    for (const [name, value] of Object.entries(reasons)) best[name] = Math.max(best[name] ?? 0, value);
  return best;
}

export function Why({ hit, best }: { hit: Found; best: Best }) {
  return (
    <ul class={css.why} aria-label="Why it was found">
      {PARTS.filter(([name]) => hit.reasons[name] !== undefined).map(([name, label, about]) => {
        const value = Math.max(0, hit.reasons[name] ?? 0);
        return (
          <li key={name} title={about}>
            <span class={css.label}>{label}</span>
            <Meter label={label} value={value / (best[name] || 1)} text={value.toFixed(2)} />
            <span class={css.value}>{value.toFixed(2)}</span>
          </li>
        );
      })}
    </ul>
  );
}
