// Two texts held against each other, line by line.

import { visible } from "../lib/safe.ts";
import { Many } from "../markdown/long.tsx";
import css from "./line-diff.module.css";

export interface DiffLine {
  kind: "add" | "drop" | "same";
  text: string;
}

const MOST_LINES = 300;
const SIGNS = { add: "+", drop: "−", same: " " } as const;

interface Props {
  lines: DiffLine[];
  /** What is read out before a line that came, and before one that went. */
  added: string;
  dropped: string;
}

export function LineDiff({ lines, added, dropped }: Props) {
  const spoken = { add: `${added}: `, drop: `${dropped}: `, same: "" };
  return (
    <div class={css.diff}>
      <Many
        of={lines}
        most={MOST_LINES}
        draw={({ kind, text }) => (
          <p class={`${css.line} ${css[kind]}`}>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span>
              <span class="visually-hidden">{spoken[kind]}</span>
              {visible(text)}
            </span>
          </p>
        )}
      />
    </div>
  );
}
