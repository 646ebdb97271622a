// Two answers held against each other, line by line; where they say the same, the answer alone.

import { visible } from "../../lib/safe.ts";
import { Long, Many } from "../../markdown/long.tsx";
import type { Report } from "./again-routes.ts";
import css from "./answer-diff.module.css";

const MOST_LINES = 300;
const HEADS = /^(--- |\+\+\+ |@@ )/;

/** The lines of a difference without its heads, each with what became of it. */
export function linesOf(diff: string): { kind: "add" | "drop" | "same"; text: string }[] {
  const lines = diff.split("\n");
  return lines
    .filter((line, at) => !(HEADS.test(line) && (at < 2 || line.startsWith("@@ "))))
    .map((line) => ({
      kind: line.startsWith("+") ? "add" : line.startsWith("-") ? "drop" : "same",
      text: line.slice(1),
    }));
}

const SIGNS = { add: "+", drop: "−", same: " " } as const;
const SPOKEN = { add: "replayed: ", drop: "recorded: ", same: "" } as const;

export function AnswerDiff({ report: { diff, recorded } }: { report: Report }) {
  if (diff === "")
    return (
      <p class={css.answer}>
        <Long text={visible(recorded.answer) || "Neither gave an answer."} />
      </p>
    );
  return (
    <div class={css.diff}>
      <Many
        of={linesOf(diff)}
        most={MOST_LINES}
        draw={({ kind, text }) => (
          <p class={`${css.line} ${css[kind]}`}>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span>
              <span class="visually-hidden">{SPOKEN[kind]}</span>
              {visible(text)}
            </span>
          </p>
        )}
      />
    </div>
  );
}
