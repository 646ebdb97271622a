// Where a memory came from and what became of it: the very place on the thread, what it was derived from, who used it.

import { MapPin } from "lucide-preact";
import { Link } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { ago, exactly } from "../../lib/words.ts";
import { type Detail, Details } from "../../ui/details.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Card, Problem } from "../../ui/page.tsx";
import { type Kept, memory, placeOf, recordOf } from "./memory.ts";
import css from "./receipt.module.css";

const when = (iso: string) => (
  <time dateTime={iso} title={exactly(iso)}>
    {ago(iso)}
  </time>
);

export function ReceiptCard({ record }: { record: Kept }) {
  const full = useLoaded(() => memory.receipt(record.id), [record.id]);
  const { receipt } = record;
  return (
    <Card title="Receipt">
      {receipt.task_id ? (
        <Link href={placeOf(receipt.task_id, receipt.first_seq)} class={css.place}>
          <MapPin size={15} aria-hidden="true" />
          <span>
            <strong>Go to where it was said</strong>
            <span class={css.where}>
              {receipt.task_id}
              {receipt.first_seq ? `, ${receipt.first_seq} to ${receipt.last_seq}` : ""}
            </span>
          </span>
        </Link>
      ) : null}
      <Details details={detailsOf(record)} />
      {full.error ? <Problem error={full.error} again={full.again} /> : null}
      {full.value?.sources.length ? (
        <section class={css.part}>
          <h3>Derived from</h3>
          <ul>
            {full.value.sources.map((one) => (
              <li key={one.id}>
                <Link href={recordOf(one.id)}>{one.text}</Link>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {full.value?.used_in.length ? (
        <section class={css.part}>
          <h3>Used in</h3>
          <ul>
            {full.value.used_in.map((use) => (
              <li key={use.turn_id}>
                <Link href={placeOf(use.task_id, 0)}>{use.task_id}</Link>{" "}
                <span class={css.faint}>
                  {when(use.used_at)}
                  {use.times > 1 ? `, ${use.times} times` : ""}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </Card>
  );
}

function detailsOf(record: Kept): (Detail | null)[] {
  const { receipt } = record;
  const sure = `${Math.round(record.confidence * 100)} %`;
  return [
    ["Noted by", receipt.extractor],
    ["Written", when(receipt.created_at)],
    record.event_at === receipt.created_at ? null : ["Happened", when(record.event_at)],
    record.valid_until ? ["Held until", exactly(record.valid_until)] : null,
    [
      "Sure",
      <span key="sure" class={css.sure}>
        <Meter label="Confidence" value={record.confidence} text={sure} /> {sure}
        {receipt.confidence - record.confidence > 0.01
          ? `, was ${Math.round(receipt.confidence * 100)} %`
          : ""}
      </span>,
    ],
    ["Used", receipt.uses ? `${receipt.uses} times, last ${ago(receipt.last_used_at ?? "")}` : "not yet"],
    ["Id", <code key="id">{record.id}</code>],
  ];
}
