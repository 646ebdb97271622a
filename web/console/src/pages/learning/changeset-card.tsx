// A changeset: what one piece of learning changed, item by item, and the buttons that accept, reject or revert all of it
// or one thing.

import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useSending } from "../../lib/sending.ts";
import { money, plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/form.tsx";
import list from "../../ui/list.module.css";
import { Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { ChangeView } from "./change.tsx";
import css from "./changeset-card.module.css";
import { choices, choicesOfAll, concerned, counted } from "./deciding.ts";
import {
  type Change,
  type Changeset,
  changesetOf,
  type Decision,
  KINDS,
  learning,
  STATUSES,
} from "./learning.ts";

const WORDS: Record<Decision, string> = { accept: "Accept", reject: "Reject", revert: "Revert" };
const KIND = { accept: "primary", reject: "plain", revert: "plain" } as const;

interface Props {
  given: Changeset;
  /** So many items at first; the rest is on its page. */
  most?: number;
}

/** Asked for before something is reverted: all of it (null), or one item. */
type Asked = { item: Change | null } | null;

export function ChangesetCard({ given, most = Number.POSITIVE_INFINITY }: Props) {
  const [changeset, setChangeset] = useState(given);
  const [asked, setAsked] = useState<Asked>(null);
  const { sending, problem, send } = useSending();
  useEffect(() => setChangeset(given), [given]);
  const decide = async (decision: Decision, places: number[]) =>
    setChangeset(await learning.decide(changeset.changeset_id, decision, places));
  function press(decision: Decision, item: Change | null) {
    if (decision === "revert") setAsked({ item });
    else void send(() => decide(decision, item ? [item.place] : []));
  }
  const button = (decision: Decision, item: Change | null) => (
    <Button
      key={decision}
      size="s"
      kind={item ? "quiet" : KIND[decision]}
      disabled={sending}
      aria-label={`${WORDS[decision]} ${item ? (item.after ?? item.before[0]?.text ?? "this") : "all of it"}`}
      onClick={() => press(decision, item)}
    >
      {WORDS[decision]}
      {item ? "" : " all"}
    </Button>
  );
  const { items } = changeset;
  const alone = items.length === 1;
  return (
    <article class={css.card} aria-label={changeset.title || "Nothing to learn"}>
      <header class={`${list.head} ${list.many}`}>
        <Head changeset={changeset} />
        <div class={list.actions}>{choicesOfAll(changeset).map((decision) => button(decision, null))}</div>
      </header>
      {problem ? <Problem error={problem} /> : null}
      {changeset.note ? <p class={css.note}>{changeset.note}</p> : null}
      {items.length ? (
        <ul class={css.items} aria-label="What it changes">
          {items.slice(0, most).map((item) => (
            <ChangeView
              key={item.place}
              change={item}
              actions={alone ? null : choices(item).map((decision) => button(decision, item))}
            />
          ))}
        </ul>
      ) : null}
      {items.length > most ? (
        <Link href={changesetOf(changeset.changeset_id)} class={css.more}>
          {plural(items.length - most, "more change")}
        </Link>
      ) : null}
      {asked ? (
        <Revert
          {...{ changeset, item: asked.item, onLeave: () => setAsked(null) }}
          send={async () => {
            await decide("revert", asked.item ? [asked.item.place] : []);
            setAsked(null);
          }}
        />
      ) : null}
    </article>
  );
}

function Head({ changeset }: { changeset: Changeset }) {
  const [words, tone] = STATUSES[changeset.status];
  const facts = [
    changeset.entries ? `from ${plural(changeset.entries, "thing")} that happened` : "",
    ...counted(changeset).map(([status, many]) => `${many} ${STATUSES[status][0]}`),
    changeset.model ?? "",
    changeset.cost_usd ? money(changeset.cost_usd) : "",
  ];
  return (
    <div class={list.text}>
      <div class={`${list.line} ${css.line}`}>
        <h3>
          <Link href={changesetOf(changeset.changeset_id)}>
            {changeset.title || "There was nothing to learn"}
          </Link>
        </h3>
        <Badge tone={tone}>{words}</Badge>
        <Badge tone="accent">{KINDS[changeset.kind]}</Badge>
      </div>
      <p class={css.facts}>
        <When iso={changeset.created_at} />
        {facts.filter(Boolean).map((fact) => ` · ${fact}`)}
        {changeset.decided_at && changeset.decided_by ? (
          <>
            {" · "}decided by {changeset.decided_by} <When iso={changeset.decided_at} />
          </>
        ) : null}
      </p>
    </div>
  );
}

interface RevertProps {
  changeset: Changeset;
  item: Change | null;
  send: () => Promise<void>;
  onLeave: () => void;
}

function Revert({ changeset, item, send, onLeave }: RevertProps) {
  const many = item ? 1 : concerned(changeset, "revert").length;
  return (
    <Confirm
      {...{ send, onLeave }}
      title={item ? "Revert this change?" : "Revert this changeset?"}
      submit={`Revert ${plural(many, "change")}`}
    >
      <strong class={css.named}>{item ? (item.after ?? item.before[0]?.text) : changeset.title}</strong> is
      taken back, and memory is as it was before. What somebody has changed since is kept, and told.
    </Confirm>
  );
}
