// What an item has been through, change by change, each with the place on the thread that tells of it.

import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { usePaged } from "../../lib/paged.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { named } from "./card.tsx";
import { changeWords } from "./change-words.ts";
import css from "./history.module.css";
import { type Change, type Item, work } from "./work.ts";

const FEW = 5;

export function History({ item, me }: { item: Item; me: string }) {
  const [all, setAll] = useState(false);
  const found = usePaged<Change>(
    async (before) => {
      const page = await work.history(item.item_id, before);
      return { items: page.changes, next: page.next };
    },
    [item.item_id, item.version],
  );
  if (found.items === null) {
    return found.error ? (
      <Problem error={found.error} again={found.again} />
    ) : (
      <Loading label="Loading its history" />
    );
  }
  const shown = all ? found.items : found.items.slice(0, FEW);
  const older = shown.length < found.items.length || found.more !== null;
  return (
    <section class={css.history} aria-label="History">
      <h3>History</h3>
      <ol>
        {shown.map((change) => (
          <Line key={change.number} change={change} me={me} />
        ))}
      </ol>
      {older ? (
        <div>
          <Button size="s" kind="quiet" onClick={() => (all ? found.more?.() : setAll(true))}>
            Show older
          </Button>
        </div>
      ) : null}
    </section>
  );
}

function Line({ change, me }: { change: Change; me: string }) {
  const { what, why } = changeWords(change);
  return (
    <li class={`${css.line} ${css[change.action] ?? ""}`}>
      <p class={css.what}>
        <b>{named(change.by, me)}</b> {what}
        {change.overrode ? <Badge tone="warn">in the owner’s place</Badge> : null}
      </p>
      {why ? <p class={css.why}>{why}</p> : null}
      <p class={css.when}>
        <When iso={change.at} />
        {change.task_id && change.seq ? (
          <Link href={`${taskOf(change.task_id)}?seq=${change.seq}`}>told in {change.task_id}</Link>
        ) : null}
      </p>
    </li>
  );
}
