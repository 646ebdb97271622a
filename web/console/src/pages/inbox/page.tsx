// The inbox: everything that waits for a person, over all tasks, the newest first. Two keys answer: one to get there, one
// to say it.

import { Bell, BellOff } from "lucide-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { noticeable, noticing, wantNotices } from "../../lib/notices.ts";
import { pending, refresh } from "../../lib/tasks.ts";
import { Button } from "../../ui/button.tsx";
import { Keys } from "../../ui/keys.tsx";
import { Empty, Loading, Page } from "../../ui/page.tsx";
import css from "./page.module.css";
import { RequestCard } from "./request-card.tsx";
import { useSelection } from "./selection.ts";

const KEYS: [string[], string][] = [
  [["j", "k"], "next, previous"],
  [["y", "n"], "allow, refuse"],
  [["1 – 9"], "choose an answer"],
  [["↵"], "write"],
  [["o"], "open the chat"],
];

export default function InboxPage() {
  const first = useLoaded(refresh, []);
  const waiting = pending.value.toSorted((one, other) => other.created_at.localeCompare(one.created_at));
  const { selected, select } = useSelection(waiting.map((request) => request.request_id));
  return (
    <Page
      title="Inbox"
      about="What waits for you, over all tasks. The work goes on the moment you answer."
      actions={<Notices />}
    >
      {waiting.length === 0 ? (
        <Nothing loading={first.loading} />
      ) : (
        <>
          <ul class={css.list}>
            {waiting.map((request) => (
              <RequestCard
                key={request.request_id}
                request={request}
                selected={request.request_id === selected}
                onSelect={() => select(request.request_id)}
              />
            ))}
          </ul>
          <p class={css.keys}>
            {KEYS.map(([names, what]) => (
              <span key={what}>
                <Keys names={names} />
                {what}
              </span>
            ))}
          </p>
        </>
      )}
    </Page>
  );
}

function Nothing({ loading }: { loading: boolean }) {
  if (loading) return <Loading label="Loading what waits" />;
  return (
    <Empty title="Nothing waits for you">
      When an agent needs a permission or an answer, it waits here, and costs nothing while it does.
    </Empty>
  );
}

function Notices() {
  if (!noticeable.value) return <span class={css.blocked}>Notifications are blocked in this browser</span>;
  const on = noticing.value;
  return (
    <Button aria-pressed={on} onClick={() => void wantNotices(!on)}>
      {on ? <Bell size={15} /> : <BellOff size={15} />}
      {on ? "Notifications are on" : "Notify me"}
    </Button>
  );
}
