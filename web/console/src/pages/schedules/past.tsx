// The times of a schedule that were due, newest first: what became of each, and why if it was not simply done.

import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { usePaged } from "../../lib/paged.ts";
import { plural, precisely } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/list.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import css from "./past.module.css";
import { type Occurrence, type Schedule, schedules, TIMES } from "./schedules.ts";

const SHOWN = [
  ["", "All"],
  ["acknowledged", "Done"],
  ["deferred", "Put off"],
  ["missed", "Missed"],
  ["skipped", "Skipped"],
  ["failed", "Failed"],
] as const;
const EVERY_MS = 2500;

export function Past({ schedule }: { schedule: Schedule }) {
  const [status, setStatus] = useState<(typeof SHOWN)[number][0]>("");
  const found = usePaged<Occurrence>(
    async (before) => {
      const page = await schedules.occurrences(schedule.schedule_id, before, status);
      return { items: page.occurrences, next: page.next };
    },
    [schedule.schedule_id, schedule.runs, status],
  );
  const moving = found.items?.some(
    ({ status: is }) => is === "due" || is === "deferred" || is === "delivered",
  );
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(found.again, EVERY_MS);
    return () => clearInterval(timer);
  }, [moving, found.again]);
  return (
    <Section
      title="Times that were due"
      actions={<Segments label="What became of them" value={status} options={SHOWN} onChoose={setStatus} />}
    >
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.items === null ? (
        found.error ? null : (
          <Loading label="Loading the times" />
        )
      ) : found.items.length === 0 ? (
        <Empty title={status ? "No times like that" : "It has not been due yet"} />
      ) : (
        <div class={css.frame}>
          <Table label="Times that were due" head={["Due", "What became of it", "Why", "Where", "#Begun"]}>
            {found.items.map((one) => (
              <Row key={`${one.due_at} ${one.by_hand}`} one={one} />
            ))}
          </Table>
        </div>
      )}
      {found.more ? (
        <Button class={css.more ?? ""} disabled={found.loading} onClick={found.more}>
          Show more
        </Button>
      ) : null}
    </Section>
  );
}

function Row({ one }: { one: Occurrence }) {
  const [words, tone] = TIMES[one.status];
  return (
    <tr>
      <td class={css.due}>
        {precisely(one.due_at)}
        {one.count > 1 ? <span>{` and ${plural(one.count - 1, "more time")}`}</span> : null}
        {one.by_hand ? <Badge tone="accent">by hand</Badge> : null}
      </td>
      <td>
        <Badge tone={tone}>{words}</Badge>
      </td>
      <td class={css.why}>{one.reason || "–"}</td>
      <td>{one.task_id ? <Link href={chatOf(one.task_id)}>Open</Link> : "–"}</td>
      <td class={css.begun}>{one.delivered_at ? <When iso={one.delivered_at} /> : "–"}</td>
    </tr>
  );
}
