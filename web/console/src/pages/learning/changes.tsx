// Everything that was learned, change by change and night by night. A whole night can be reverted at once, after a look at
// what that takes back. How they stand and what they came from are in the address.

import { Undo2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";
import { named } from "../../lib/days.ts";
import { usePaged } from "../../lib/paged.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import css from "./changes.module.css";
import { ChangesetCard } from "./changeset-card.tsx";
import { concerned, nights } from "./deciding.ts";
import { type Changeset, KINDS, learning } from "./learning.ts";
import { NightDialog } from "./night.tsx";

const STATUS = [
  ["", "All"],
  ["proposed", "Waiting"],
  ["applied", "Applied"],
  ["reverted", "Reverted"],
  ["rejected", "Rejected"],
] as const;
const MOST_ITEMS = 5;

export function Changes({ version }: { version: number }) {
  const [params, setParams] = useSearchParams();
  const status = STATUS.find(([name]) => name === params.get("status"))?.[0] ?? "";
  const kind =
    (Object.keys(KINDS) as Changeset["kind"][]).find((name) => name === params.get("kind")) ?? null;
  const [night, setNight] = useState<string | null>(null);
  const [told, setTold] = useState<string | null>(null);
  const found = usePaged<Changeset>(
    async (before) => {
      const page = await learning.changesets({ status: status || null, kind, before });
      return { items: page.changesets, next: page.next };
    },
    [status, kind, version],
  );
  function put(name: string, value: string) {
    const next = new URLSearchParams(params);
    if (value) next.set(name, value);
    else next.delete(name);
    setParams(next, { replace: true });
  }
  return (
    <div class={css.stack}>
      <div class={css.filters}>
        <Segments label="Status" value={status} options={STATUS} onChoose={(value) => put("status", value)} />
        <Select label="From" value={kind ?? ""} onChange={(event) => put("kind", event.currentTarget.value)}>
          <option value="">everything</option>
          {Object.entries(KINDS).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </Select>
      </div>
      {told ? (
        <p class={css.told} role="status">
          {told}
        </p>
      ) : null}
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      <Nights found={found.items} filtered={status !== "" || kind !== null} onNight={setNight} />
      {found.more ? (
        <Button class={css.center} disabled={found.loading} onClick={found.more}>
          Show more
        </Button>
      ) : null}
      {night ? (
        <NightDialog
          night={night}
          onLeave={() => setNight(null)}
          onDone={(sentence) => {
            setNight(null);
            setTold(sentence);
            found.again();
          }}
        />
      ) : null}
    </div>
  );
}

interface NightsProps {
  found: Changeset[] | null;
  filtered: boolean;
  onNight: (night: string) => void;
}

function Nights({ found, filtered, onNight }: NightsProps) {
  if (found === null) return <Loading />;
  if (found.length === 0)
    return filtered ? (
      <Empty title="No changes like that" />
    ) : (
      <Empty title="Nothing was learned yet">
        Talk with the agent, then let it learn by itself or with “Run now”. Every change appears here with the
        words it rests on.
      </Empty>
    );
  return (
    <>
      {nights(found).map(([night, changesets]) => (
        <section key={night} class={css.night} aria-label={`Night of ${named(night)}`}>
          <header class={css.nightHead}>
            <h2>
              <time dateTime={night}>{named(night)}</time>
            </h2>
            {changesets.some((one) => concerned(one, "revert").length) ? (
              <Button size="s" kind="quiet" onClick={() => onNight(night)}>
                <Undo2 size={14} aria-hidden="true" /> Revert the whole night
              </Button>
            ) : null}
          </header>
          {changesets.map((one) => (
            <ChangesetCard key={one.changeset_id} given={one} most={MOST_ITEMS} />
          ))}
        </section>
      ))}
    </>
  );
}
