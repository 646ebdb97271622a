// Lessons: what to do differently, and whether it helped. A mark counts at once for what the next turns are told.

import { ThumbsDown, ThumbsUp } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import css from "./lessons.module.css";
import lists from "./list.module.css";
import { type Kept, memory, placeOf, recordOf } from "./memory.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export function Lessons() {
  const lessons = useLoaded(() => memory.page({ store: "lessons", limit: 100 }), []);
  if (lessons.error) return <Problem error={lessons.error} again={lessons.again} />;
  if (lessons.value === null) return <Loading />;
  const kept = lessons.value.records as Kept[];
  if (kept.length === 0)
    return (
      <Empty title="No lessons yet">
        When a way of working went wrong and then right, the agent keeps what to do instead. It appears here.
      </Empty>
    );
  return (
    <ul class={lists.stack} aria-label="Lessons">
      {kept.map((record) => (
        <Lesson key={record.id} given={record} />
      ))}
    </ul>
  );
}

function Lesson({ given }: { given: Kept }) {
  const [record, setRecord] = useState(given);
  const { problem, send } = useSending();
  const mark = (helpful: boolean) => send(async () => setRecord(await memory.mark(record.id, helpful)));
  const domains = Array.isArray(record.domains) ? record.domains : [];
  const { task_id, first_seq } = record.receipt;
  return (
    <li class={css.lesson}>
      <h3>
        <Link href={recordOf(record.id)}>{text(record.trigger)}</Link>
        {record.verified ? <Badge tone="good">verified</Badge> : null}
      </h3>
      {record.mistake ? <p class={css.mistake}>{text(record.mistake)}</p> : null}
      <p class={css.instead}>{text(record.correct_pattern)}</p>
      {record.code_example ? <pre class={css.code}>{text(record.code_example)}</pre> : null}
      <footer class={css.foot}>
        <span class={css.tags}>
          {domains.map((name) => (
            <Badge key={String(name)}>{String(name)}</Badge>
          ))}
          {task_id ? <Link href={placeOf(task_id, first_seq)}>where it was learned</Link> : null}
        </span>
        <span class={css.marks}>
          <Button size="s" aria-label="It helped" onClick={() => void mark(true)}>
            <ThumbsUp size={13} aria-hidden="true" /> {Number(record.helpful)}
          </Button>
          <Button size="s" aria-label="It did harm" onClick={() => void mark(false)}>
            <ThumbsDown size={13} aria-hidden="true" /> {Number(record.harmful)}
          </Button>
        </span>
      </footer>
      {problem ? <Problem error={problem} /> : null}
    </li>
  );
}
