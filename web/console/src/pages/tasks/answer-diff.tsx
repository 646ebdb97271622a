// Two answers held against each other, line by line; where they say the same, the answer alone.

import { visible } from "../../lib/safe.ts";
import { Long } from "../../markdown/long.tsx";
import { type DiffLine, LineDiff } from "../../ui/line-diff.tsx";
import type { Report } from "./again-routes.ts";
import css from "./answer-diff.module.css";

const HEADS = /^(--- |\+\+\+ |@@ )/;

/** The lines of a difference without its heads, each with what became of it. */
export function linesOf(diff: string): DiffLine[] {
  const lines = diff.split("\n");
  return lines
    .filter((line, at) => !(HEADS.test(line) && (at < 2 || line.startsWith("@@ "))))
    .map((line) => ({
      kind: line.startsWith("+") ? "add" : line.startsWith("-") ? "drop" : "same",
      text: line.slice(1),
    }));
}

export function AnswerDiff({ report: { diff, recorded } }: { report: Report }) {
  if (diff === "")
    return (
      <p class={css.answer}>
        <Long text={visible(recorded.answer) || "Neither gave an answer."} />
      </p>
    );
  return <LineDiff lines={linesOf(diff)} added="replayed" dropped="recorded" />;
}
