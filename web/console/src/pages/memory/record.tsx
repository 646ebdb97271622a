// One memory, whole: what it says, what it was before, where it came from and where it was used. It is corrected in its
// place and forgotten from here.

import { Pencil, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { ago, exactly } from "../../lib/words.ts";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Details } from "../../ui/details.tsx";
import { Card, Loading, Problem } from "../../ui/page.tsx";
import { Correct } from "./correct.tsx";
import { fieldsOf, written } from "./fields.ts";
import { ForgetDialog } from "./forget.tsx";
import { type Kept, memory, recordOf } from "./memory.ts";
import { ReceiptCard } from "./receipt.tsx";
import css from "./record.module.css";
import { StoreBadge } from "./store-badge.tsx";

export function RecordView({ id }: { id: string }) {
  const record = useLoaded(() => memory.record(id), [id]);
  if (record.error) return <Problem error={record.error} again={record.again} />;
  if (record.value === null || record.value.id !== id) return <Loading />;
  return <Whole key={id} record={record.value} again={record.again} />;
}

function Whole({ record, again }: { record: Kept; again: () => void }) {
  const [, navigate] = useLocation();
  const [doing, setDoing] = useState<"correct" | "forget" | null>(null);
  const [round, setRound] = useState(0);
  function corrected(id: string) {
    setDoing(null);
    setRound(round + 1);
    if (id === record.id) again();
    else navigate(recordOf(id));
  }
  return (
    <div class={css.record}>
      <Back href="/memory">All memories</Back>
      <div class={css.columns}>
        <div class={css.column}>
          <Card>
            <div class={css.tags}>
              <StoreBadge store={record.store} />
              {record.superseded_by ? (
                <Link href={recordOf(record.superseded_by)} class={css.newer}>
                  <Badge tone="warn">replaced by a newer one</Badge>
                </Link>
              ) : record.valid_until ? (
                <Badge tone="warn">no longer holds</Badge>
              ) : null}
            </div>
            <p class={css.text}>{record.text}</p>
            {doing === "correct" ? (
              <Correct record={record} onDone={corrected} onLeave={() => setDoing(null)} />
            ) : (
              <>
                <Details
                  details={fieldsOf(record.kind).map(({ name, label }) => fact(label, record[name]))}
                />
                <div class={css.buttons}>
                  <Button onClick={() => setDoing("correct")} disabled={fieldsOf(record.kind).length === 0}>
                    <Pencil size={14} /> Correct
                  </Button>
                  <Button kind="danger" onClick={() => setDoing("forget")}>
                    <Trash2 size={14} /> Forget
                  </Button>
                </div>
              </>
            )}
          </Card>
          <History key={round} id={record.id} />
        </div>
        <ReceiptCard record={record} />
      </div>
      {doing === "forget" ? (
        <ForgetDialog
          what={{ ids: [record.id] }}
          onDone={() => navigate("/memory", { replace: true })}
          onLeave={() => setDoing(null)}
        />
      ) : null}
    </div>
  );
}

const fact = (label: string, value: unknown) => {
  const text = written(value);
  return text
    ? ([label.replace(/ \(.*| ?, one to a line/, ""), <span class={css.value}>{text}</span>] as const)
    : null;
};

function History({ id }: { id: string }) {
  const history = useLoaded(() => memory.history(id), [id]);
  if (history.error) return <Problem error={history.error} again={history.again} />;
  const versions = history.value?.records ?? [];
  if (versions.length < 2) return null;
  return (
    <Card title="What it was before">
      <ol class={css.versions}>
        {versions.toReversed().map((one) => (
          <li key={one.id} aria-current={one.id === id ? "true" : undefined}>
            <time dateTime={one.receipt.created_at} title={exactly(one.receipt.created_at)}>
              {ago(one.receipt.created_at)}
            </time>
            {one.id === id ? <span>{one.text}</span> : <Link href={recordOf(one.id)}>{one.text}</Link>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
