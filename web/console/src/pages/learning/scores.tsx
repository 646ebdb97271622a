// What turns came to with something learned and without it, side by side, and the difference.

import { Meter } from "../../ui/meter.tsx";
import { signed, type Trial } from "./learning.ts";
import css from "./scores.module.css";

type Numbers = Pick<Trial, "with_score" | "without_score" | "gain" | "wins" | "losses" | "turns">;

export function Scores({ trial }: { trial: Numbers }) {
  const { with_score, without_score, gain, wins, losses, turns } = trial;
  const better = gain > 0;
  return (
    <div class={css.scores}>
      <Arm label="With it" value={with_score} tone={gain === 0 ? "plain" : better ? "good" : "bad"} />
      <Arm label="Without" value={without_score} tone="plain" />
      <p class={css.gain}>
        <strong class={gain === 0 ? undefined : css[better ? "better" : "worse"]}>{signed(gain)}</strong>
        <span>
          {wins} better, {losses} worse, {turns - wins - losses} the same
        </span>
      </p>
    </div>
  );
}

function Arm({ label, value, tone }: { label: string; value: number; tone: "good" | "bad" | "plain" }) {
  return (
    <div class={css.arm}>
      <span>{label}</span>
      <Meter label={label} value={value} text={value.toFixed(2)} tone={tone} />
      <span class={css.value}>{value.toFixed(2)}</span>
    </div>
  );
}
