// Taking a whole night back: first everything that would go, then, by a button, all of it at once.

import { named } from "../../lib/days.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import { concerned } from "./deciding.ts";
import { ACTIONS, type Changeset, learning } from "./learning.ts";
import css from "./night.module.css";

const MOST = 200;

interface Props {
  night: string;
  onLeave: () => void;
  onDone: (sentence: string) => void;
}

/** What came of it, in words. */
export function reverted(changesets: readonly Pick<Changeset, "items">[]): string {
  const items = changesets.flatMap((one) => one.items);
  const gone = items.filter(({ status }) => status === "reverted").length;
  const stay = items.filter(({ status }) => status === "kept").length;
  const kept = stay ? ` ${plural(stay, "change")} stayed, because of what happened since.` : "";
  return `${plural(gone, "change")} reverted.${kept}`;
}

export function NightDialog({ night, onLeave, onDone }: Props) {
  const found = useLoaded(() => learning.changesets({ status: "applied", night, limit: MOST }), [night]);
  const doomed = (found.value?.changesets ?? []).flatMap((one) => concerned(one, "revert"));
  return (
    <Dialog title={`Revert the night of ${named(night)}?`} onLeave={onLeave} wide>
      <Form
        danger
        submit={`Revert ${plural(doomed.length, "change")}${found.value?.next ? " and more" : ""}`}
        leave="Keep it"
        ready={doomed.length > 0}
        onLeave={onLeave}
        send={async () => onDone(reverted((await learning.revertNight(night)).changesets))}
      >
        {found.error ? <Problem error={found.error} again={found.again} /> : null}
        {found.value ? (
          <ul class={css.changes} aria-label="What would be reverted">
            {doomed.map((item, at) => (
              <li key={at}>
                <Badge>{ACTIONS[item.action]}</Badge>
                <span class={css.text}>{item.after ?? item.before.map(({ text }) => text).join(" ")}</span>
              </li>
            ))}
          </ul>
        ) : found.error ? null : (
          <Loading />
        )}
        <p class={css.note}>
          Memory is as it was before that night. What somebody has changed since is kept, and told.
        </p>
      </Form>
    </Dialog>
  );
}
