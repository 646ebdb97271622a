// The head of a turn on the time-line: what was said, how it ended, what it took, and what can be said of it.

import { GitFork, History, RotateCcw } from "lucide-preact";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { duration, exactly, money, plural, short } from "../../lib/words.ts";
import { Status } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { againFrom } from "./again-routes.ts";
import type { Feedback } from "./feedback.ts";
import type { Lane } from "./lane.ts";
import { Opinion } from "./opinion.tsx";
import { cacheShare, type TurnLine } from "./steps.ts";
import css from "./turn-head.module.css";

interface Props {
  taskId: string;
  turn: TurnLine;
  number: number;
  lane: Lane;
  fork: (seq: number) => void;
  feedback: Feedback;
}

const STANDS: Record<string, string> = { started: "running", resumed: "running" };
/** More than a line can show. */
const LINE_CHARS = 300;
const PLAIN_ENDS = new Set(["end_turn", null]);

function facts(turn: TurnLine, lane: Lane): string {
  const share = cacheShare(turn);
  const parts = [
    duration(lane.worked),
    lane.waited > 0 ? `waited ${duration(lane.waited)} for a person` : "",
    plural(turn.calls, "model call"),
    `${short(turn.input)} in`,
    share ? `${share} % from cache` : "",
    `${short(turn.output)} out`,
    turn.cost === null ? "" : money(turn.cost),
  ];
  return parts.filter(Boolean).join(" · ");
}

export function TurnHead({ taskId, turn, number, lane, fork, feedback }: Props) {
  const from = new Date(turn.from).toISOString();
  return (
    <section class={css.turn} aria-label={`Turn ${number}`}>
      <div class={css.line}>
        <span class={css.number}>{number}</span>
        <h2 class={css.said}>{turn.said.slice(0, LINE_CHARS) || "No message"}</h2>
        <Status value={STANDS[turn.phase] ?? turn.phase} />
      </div>
      <div class={css.line}>
        <p class={css.facts}>
          <time dateTime={from}>{exactly(from)}</time> · {facts(turn, lane)}
          {PLAIN_ENDS.has(turn.reason) ? "" : ` · ${turn.reason?.replaceAll("_", " ")}`}
        </p>
        <div class={css.actions}>
          <Opinion turnId={turn.id} feedback={feedback} />
          <Link
            class={css.jump}
            href={`${taskOf(taskId, "replay")}?seq=${turn.lastSeq}`}
            title="Replay to here"
          >
            <History size={14} aria-hidden="true" />
            <span class="visually-hidden">Replay to here</span>
          </Link>
          <Link class={css.jump} href={againFrom(taskId, turn.seq)} title="Run this turn again">
            <RotateCcw size={14} aria-hidden="true" />
            <span class="visually-hidden">Run this turn again</span>
          </Link>
          <IconButton size="s" label="Fork after this turn" onClick={() => fork(turn.lastSeq)}>
            <GitFork size={14} />
          </IconButton>
        </div>
      </div>
    </section>
  );
}
