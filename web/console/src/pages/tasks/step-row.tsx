// One step on the time-line: what it was, when on its turn's lane, how long, how many tokens, how much money. It opens to
// what was sent and what came.

import { Bot, ChevronRight, CircleAlert, Hand, Info, Sparkles, Wrench } from "lucide-preact";
import { duration, money, short } from "../../lib/words.ts";
import type { Lane } from "./lane.ts";
import { StepDetails } from "./step-details.tsx";
import css from "./step-row.module.css";
import { about } from "./step-words.ts";
import { cacheShare, type ModelStep, type Step, type TurnLine } from "./steps.ts";

interface Props {
  taskId: string;
  turn: TurnLine;
  step: Step;
  lane: Lane;
  open: boolean;
  toggle: (key: string) => void;
}

/** More than a line can show. */
const LINE_CHARS = 300;
const ICONS = { model: Sparkles, tool: Wrench, wait: Hand, agent: Bot, remark: Info };

export function StepRow({ taskId, turn, step, lane, open, toggle }: Props) {
  const { name, gist, failed } = about(step);
  const Icon = failed ? CircleAlert : ICONS[step.kind];
  if (step.kind === "remark") {
    return (
      <p class={`${css.remark} ${css[step.tone]}`}>
        <Icon size={14} aria-hidden="true" /> {step.text.slice(0, LINE_CHARS)}
      </p>
    );
  }
  const end = step.to ?? turn.seen;
  const { left, width } = lane.place(step.from, end);
  return (
    <div class={`${css.item} ${css[step.kind]} ${failed ? css.failed : ""}`}>
      <button type="button" class={css.row} aria-expanded={open} onClick={() => toggle(step.key)}>
        <Icon size={15} class={css.icon} aria-hidden="true" />
        <span class={css.about}>
          <span class={css.name}>{name}</span>
          <span class={css.gist}>{gist.slice(0, LINE_CHARS)}</span>
        </span>
        <span class={css.lane} aria-hidden="true">
          <span
            class={css.bar}
            style={{ left: `min(${100 * left}%, 100% - 3px)`, width: `${100 * width}%` }}
          />
        </span>
        <span class={css.time}>{step.to === null ? "…" : duration(spent(step, end))}</span>
        {step.kind === "model" ? <Tokens step={step} /> : null}
        {step.kind === "agent" ? <span class={css.cost}>{money(step.cost)}</span> : null}
        <ChevronRight size={14} class={css.arrow} aria-hidden="true" />
      </button>
      {open ? (
        <div class={css.details}>
          <StepDetails taskId={taskId} step={step} />
        </div>
      ) : null}
    </div>
  );
}

/** What the step itself measured, where it did; else from its beginning to its end on the thread. */
function spent(step: Step, end: number): number {
  const measured = step.kind === "tool" ? step.result?.duration_ms : null;
  return measured ?? end - step.from;
}

function Tokens({ step: { usage } }: { step: ModelStep }) {
  if (usage === null) return null;
  const share = cacheShare({ input: usage.input_tokens, cached: usage.cache_hit_tokens ?? 0 });
  return (
    <>
      <span class={css.in}>{short(usage.input_tokens)}</span>
      <span class={css.cache}>{share === null ? "–" : `${share} %`}</span>
      <span class={css.out}>{short(usage.output_tokens)}</span>
      <span class={css.cost}>{money(usage.cost_usd)}</span>
    </>
  );
}
