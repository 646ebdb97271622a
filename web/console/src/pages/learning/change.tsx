// One thing that was learned, as a diff: what was believed, what is believed then, the words it rests on and where they
// were said, how it stands, and what can be done about it.

import { MapPin } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { Badge } from "../../ui/badge.tsx";
import { placeOf, recordOf } from "../memory/memory.ts";
import css from "./change.module.css";
import { ACTIONS, type Change, STATUSES, trialOf } from "./learning.ts";
import { Quote } from "./quote.tsx";
import { compared, type Piece } from "./words-diff.ts";

/** The record or trial it became, while it is there. */
function pageOf({ action, record_id, status }: Change): string | null {
  if (record_id === null || action === "skill") return null;
  if (action === "trial") return trialOf(record_id);
  return status === "applied" || status === "kept" ? recordOf(record_id) : null;
}

export function ChangeView({ change, actions }: { change: Change; actions?: ComponentChildren }) {
  const [words, tone] = STATUSES[change.status];
  const page = pageOf(change);
  const quiet = change.status === "refused" || change.status === "rejected" || change.status === "reverted";
  return (
    <li class={`${css.change} ${quiet ? css.quiet : ""}`}>
      <div class={css.head}>
        <span class={css.tags}>
          <span class={css.action}>{ACTIONS[change.action]}</span>
          <Badge>{change.kind}</Badge>
          <Badge tone={tone}>{words}</Badge>
        </span>
        {actions ? <span class={css.actions}>{actions}</span> : null}
      </div>
      <Difference change={change} />
      <Quote words={change.quote} />
      <p class={css.foot}>
        {change.receipt.task_id ? (
          <Link href={placeOf(change.receipt.task_id, change.receipt.first_seq)} class={css.place}>
            <MapPin size={13} aria-hidden="true" />{" "}
            {change.quote ? "where you said it" : "where it comes from"}
          </Link>
        ) : null}
        {page ? <Link href={page}>{change.action === "trial" ? "its trial" : "the memory"}</Link> : null}
        <span>{Math.round(100 * change.confidence)} % sure</span>
      </p>
      {change.reason ? <p class={css.reason}>{change.reason}</p> : null}
    </li>
  );
}

function Difference({ change: { before, after } }: { change: Change }) {
  const [only] = before.length === 1 ? before : [];
  const held = only ? compared(only.text, after ?? "") : null;
  return (
    <div class={css.diff}>
      {before.map(({ id, text }) => (
        <p key={id} class={css.before}>
          <span class={css.sign} aria-hidden="true">
            −
          </span>
          <span>
            <span class="visually-hidden">Before: </span>
            <Pieces of={held?.before ?? [{ text, changed: false }]} />
          </span>
        </p>
      ))}
      {after ? (
        <p class={css.after}>
          <span class={css.sign} aria-hidden="true">
            +
          </span>
          <span>
            <span class="visually-hidden">After: </span>
            <Pieces of={held?.after ?? [{ text: after, changed: false }]} />
          </span>
        </p>
      ) : null}
    </div>
  );
}

function Pieces({ of }: { of: readonly Piece[] }) {
  return <>{of.map(({ text, changed }, at) => (changed ? <mark key={at}>{text}</mark> : text))}</>;
}
