// Trials: lessons and heuristics that have to prove themselves on recorded turns before they are trusted, with their
// numbers.

import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { usePaged } from "../../lib/paged.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { When } from "../../ui/when.tsx";
import changes from "./changes.module.css";
import { learning, saying, type Trial, trialOf, VERDICTS } from "./learning.ts";
import { Scores } from "./scores.tsx";
import css from "./trials.module.css";

const STATUS = [
  ["", "All"],
  ["waiting", "Waiting"],
  ["promoted", "Promoted"],
  ["retired", "Retired"],
  ["undecided", "Undecided"],
] as const;

export function Trials({ version }: { version: number }) {
  const [status, setStatus] = useState<(typeof STATUS)[number][0]>("");
  const found = usePaged<Trial>(
    async (before) => {
      const page = await learning.trials(status || null, before);
      return { items: page.trials, next: page.next };
    },
    [status, version],
  );
  return (
    <div class={changes.stack}>
      <div class={changes.filters}>
        <Segments label="Verdict" value={status} options={STATUS} onChoose={setStatus} />
      </div>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.items === null ? (
        found.error ? null : (
          <Loading />
        )
      ) : found.items.length === 0 ? (
        <Empty title={status ? "No trials like that" : "Nothing is on trial"}>
          {status
            ? null
            : "A lesson is tried on recorded turns, with and without it, before it is trusted. Its scores appear here."}
        </Empty>
      ) : (
        <ul class={css.list} aria-label="Trials">
          {found.items.map((trial) => (
            <Row key={trial.trial_id} trial={trial} />
          ))}
        </ul>
      )}
      {found.more ? (
        <Button class={changes.center} disabled={found.loading} onClick={found.more}>
          Show more
        </Button>
      ) : null}
    </div>
  );
}

function Row({ trial }: { trial: Trial }) {
  const { when, what } = saying(trial);
  const [words, tone] = VERDICTS[trial.status];
  return (
    <li class={css.row}>
      <div class={css.said}>
        <Link href={trialOf(trial.trial_id)} class={css.name}>
          {what || trial.kind}
        </Link>
        {when ? <p class={css.when}>when: {when}</p> : null}
        <p class={css.about}>
          <Badge tone={tone}>{words}</Badge>
          <Badge>{trial.kind}</Badge>
          <span>{trial.turns ? plural(trial.turns, "turn") : "not tried yet"}</span>
          <When iso={trial.decided_at ?? trial.created_at} />
        </p>
        {trial.reason ? <p class={css.reason}>{trial.reason}</p> : null}
      </div>
      {trial.turns ? <Scores trial={trial} /> : null}
    </li>
  );
}
