// The journal: what happened and is learned from. What could not be learned from is set aside, says why, and can be tried
// again.

import { RotateCcw } from "lucide-preact";
import { Link, useSearchParams } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { usePaged } from "../../lib/paged.ts";
import { useSending } from "../../lib/sending.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import changes from "./changes.module.css";
import css from "./journal.module.css";
import { changesetOf, type Entry, learning } from "./learning.ts";

const STATE = [
  ["", "All"],
  ["waiting", "Waiting"],
  ["done", "Done"],
  ["set_aside", "Set aside"],
] as const;

const KINDS: Record<Entry["kind"], string> = {
  turn: "A turn ended",
  failure: "A turn failed",
  feedback: "You rated something",
  correction: "You corrected something",
};

const STATES: Record<Entry["state"], readonly [string, Tone]> = {
  waiting: ["waiting", "info"],
  done: ["done", "good"],
  set_aside: ["set aside", "bad"],
};

export function Journal({ version }: { version: number }) {
  const [params, setParams] = useSearchParams();
  const state = STATE.find(([name]) => name === params.get("state"))?.[0] ?? "";
  const { sending, problem, send } = useSending();
  const found = usePaged<Entry>(
    async (before) => {
      const page = await learning.journal(state || null, before);
      return { items: page.entries, next: page.next };
    },
    [state, version],
  );
  const again = (entry: Entry) =>
    void send(async () => {
      await learning.requeue(entry.number);
      found.again();
    });
  return (
    <div class={changes.stack}>
      <div class={changes.filters}>
        <Segments
          label="State"
          value={state}
          options={STATE}
          onChoose={(value) => setParams(value ? { state: value } : {}, { replace: true })}
        />
      </div>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {problem ? <Problem error={problem} /> : null}
      {found.items === null ? (
        found.error ? null : (
          <Loading />
        )
      ) : found.items.length === 0 ? (
        <Empty title={state ? "Nothing stands like that" : "Nothing has happened yet"}>
          {state ? null : "Every turn that ends and everything you rate or correct is noted here."}
        </Empty>
      ) : (
        <Card>
          <Table label="Journal" head={["What happened", "Where", "When", "State", "#Tries", ""]}>
            {found.items.map((entry) => (
              <Line key={entry.number} entry={entry} sending={sending} onAgain={() => again(entry)} />
            ))}
          </Table>
        </Card>
      )}
      {found.more ? (
        <Button class={changes.center} disabled={found.loading} onClick={found.more}>
          Show more
        </Button>
      ) : null}
    </div>
  );
}

function Line({ entry, sending, onAgain }: { entry: Entry; sending: boolean; onAgain: () => void }) {
  const [words, tone] = STATES[entry.state];
  return (
    <tr>
      <td class={css.kind}>
        {KINDS[entry.kind]}
        {entry.problem ? <span class={css.problem}>{entry.problem}</span> : null}
      </td>
      <td class={css.where}>
        {entry.task_id ? <Link href={taskOf(entry.task_id)}>{entry.task_id}</Link> : "–"}
      </td>
      <td class={css.when}>
        <When iso={entry.created_at} />
      </td>
      <td>
        <Badge tone={tone}>{words}</Badge>
      </td>
      <Figure>{entry.attempts}</Figure>
      <td class={css.do}>
        {entry.state === "set_aside" ? (
          <Button size="s" disabled={sending} onClick={onAgain}>
            <RotateCcw size={13} aria-hidden="true" /> Try again
          </Button>
        ) : entry.changeset_id ? (
          <Link href={changesetOf(entry.changeset_id)}>what changed</Link>
        ) : null}
      </td>
    </tr>
  );
}
