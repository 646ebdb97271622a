// What was learned about the person, each with the words it came from, where they were said, what it has proved and how
// often it was of use. Whoever searches gets everything: pages are read on until the end.

import { MapPin, Trash2 } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { usePaged } from "../../lib/paged.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { List } from "../../ui/list.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Search } from "../../ui/search.tsx";
import { When } from "../../ui/when.tsx";
import entries from "../memory/entry.module.css";
import { ForgetDialog } from "../memory/forget.tsx";
import { placeOf, recordOf } from "../memory/memory.ts";
import { StoreBadge } from "../memory/store-badge.tsx";
import css from "./learned.module.css";
import { changesetOf, type Learned, learning, signed, trialOf } from "./learning.ts";
import { Quote } from "./quote.tsx";

/** Whether every word that is searched for is in what was learned or in the words it rests on. */
export function fits({ record, quote }: Learned, words: string): boolean {
  const said = `${record.text} ${quote} ${record.receipt.task_id ?? ""}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

export function LearnedView({ version }: { version: number }) {
  const [words, setWords] = useState("");
  const [doomed, setDoomed] = useState<string | null>(null);
  const found = usePaged<Learned>(
    async (before) => {
      const page = await learning.learned(before);
      return { items: page.learned as Learned[], next: page.next };
    },
    [version],
  );
  const { more, loading, error } = found;
  const reading = words.trim() !== "" && more !== null && !error;
  useEffect(() => {
    if (reading && !loading) more?.();
  }, [reading, loading, found.items]);
  const shown = found.items?.filter((one) => fits(one, words.trim())) ?? null;
  return (
    <div class={css.stack}>
      <Search
        label="Search what was learned"
        hint="Search what was learned about you"
        value={words}
        onSearch={setWords}
      />
      {error ? <Problem error={error} again={found.again} /> : null}
      {shown === null ? (
        error ? null : (
          <Loading />
        )
      ) : shown.length ? (
        <List label="What was learned">
          {shown.map((one) => (
            <Row
              key={`${one.changeset_id} ${one.place}`}
              one={one}
              onForget={() => setDoomed(one.record.id)}
            />
          ))}
        </List>
      ) : reading ? (
        <Loading label="Searching" />
      ) : (
        <None searched={words.trim() !== ""} more={more !== null} />
      )}
      {more && !reading ? (
        <Button class={css.center} disabled={loading} onClick={more}>
          Show more
        </Button>
      ) : null}
      {doomed ? (
        <ForgetDialog
          what={{ ids: [doomed] }}
          onLeave={() => setDoomed(null)}
          onDone={() => {
            setDoomed(null);
            found.again();
          }}
        />
      ) : null}
    </div>
  );
}

function None({ searched, more }: { searched: boolean; more: boolean }) {
  if (searched) return <Empty title="Nothing learned fits" />;
  if (more) return <Empty title="Nothing of the newest changes is remembered" />;
  return (
    <Empty title="Nothing was learned about you yet">
      What you say of yourself, of your work and of how you want it done appears here, with your own words.
    </Empty>
  );
}

function Row({ one, onForget }: { one: Learned; onForget: () => void }) {
  const { record, quote, trial_id, changeset_id } = one;
  const { receipt } = record;
  return (
    <li class={css.row}>
      <div class={entries.said}>
        <Link href={recordOf(record.id)} class={entries.text}>
          {record.text}
        </Link>
        <Quote words={quote} />
        <p class={entries.about}>
          <StoreBadge store={record.store} />
          {record.valid_until ? <Badge tone="warn">no longer holds</Badge> : null}
          {receipt.task_id ? (
            <Link href={placeOf(receipt.task_id, receipt.first_seq)} class={css.place}>
              <MapPin size={12} aria-hidden="true" /> {receipt.task_id}
            </Link>
          ) : null}
          <Link href={changesetOf(changeset_id)}>the change</Link>
          {trial_id ? <Link href={trialOf(trial_id)}>the trial</Link> : null}
          <When iso={receipt.created_at} />
        </p>
      </div>
      <Worth one={one} />
      <IconButton size="s" label={`Forget ${record.text}`} onClick={onForget}>
        <Trash2 size={14} />
      </IconButton>
    </li>
  );
}

function Worth({ one: { utility } }: { one: Learned }) {
  const { worth, uses, helpful, harmful, evidence, wins, losses, gain } = utility;
  const judged = helpful + harmful;
  return (
    <dl class={css.worth}>
      <div title="By which lessons are ranked; for others, how sure and how present it is">
        <dt>Utility</dt>
        <dd class={css.meter}>
          <Meter
            label="Utility"
            value={worth}
            text={worth.toFixed(2)}
            tone={worth < 0.35 ? "warn" : "good"}
          />
          {worth.toFixed(2)}
        </dd>
      </div>
      <div>
        <dt>Uses</dt>
        <dd>
          {uses ? plural(uses, "turn") : "not yet"}
          {judged ? `, helped ${helpful}, harmed ${harmful}` : ""}
        </dd>
      </div>
      {gain === null ? null : (
        <div>
          <dt>Evidence</dt>
          <dd>
            {signed(gain)} over {plural(evidence, "turn")} ({wins} better, {losses} worse)
          </dd>
        </div>
      )}
    </dl>
  );
}
