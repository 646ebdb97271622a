// A memory as a row: what it says, whose shelf it is on, when it was, where it came from.

import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { ago, exactly } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import css from "./entry.module.css";
import { type Kept, placeOf, recordOf } from "./memory.ts";
import { StoreBadge } from "./store-badge.tsx";

const TEXT_CHARS = 400;

export function Entry({ record, children }: { record: Kept; children?: ComponentChildren }) {
  const { receipt } = record;
  return (
    <li class={css.entry}>
      <div class={css.said}>
        <Link href={recordOf(record.id)} class={css.text}>
          {record.text.slice(0, TEXT_CHARS)}
          {record.text.length > TEXT_CHARS ? "…" : ""}
        </Link>
        <p class={css.about}>
          <StoreBadge store={record.store} />
          {record.valid_until ? <Badge tone="warn">no longer holds</Badge> : null}
          <time dateTime={record.event_at} title={exactly(record.event_at)}>
            {ago(record.event_at)}
          </time>
          {receipt.task_id ? (
            <Link href={placeOf(receipt.task_id, receipt.first_seq)} class={css.origin}>
              {receipt.task_id}
            </Link>
          ) : (
            <span>by {receipt.extractor}</span>
          )}
          <span>{Math.round(record.confidence * 100)} % sure</span>
          {receipt.uses ? <span>used {receipt.uses}×</span> : null}
        </p>
      </div>
      {children}
    </li>
  );
}
