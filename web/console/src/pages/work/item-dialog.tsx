// One item: all it says, what it waits for, who has it, what can be done with it, and what it has been through.

import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { chatOf, taskOf } from "../../lib/addresses.ts";
import { useLive } from "../../lib/live.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Details } from "../../ui/details.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { named, useMe } from "./card.tsx";
import { EditForm } from "./create-dialog.tsx";
import { History } from "./history.tsx";
import { Actions } from "./item-actions.tsx";
import css from "./item-dialog.module.css";
import { Ties } from "./ties.tsx";
import { type Item, STATES, stateOf, work } from "./work.ts";
import { Worktree } from "./worktree.tsx";

interface Props {
  id: string;
  /** The view of the board that is behind it. */
  view: string;
  /** Called when something about it was changed here. */
  onChange: () => void;
  onLeave: () => void;
}

export function ItemDialog({ id, view, onChange, onLeave }: Props) {
  const loaded = useLive(() => work.item(id), [id]);
  const [editing, setEditing] = useState(false);
  const item = loaded.value;
  const again = () => {
    loaded.again();
    onChange();
  };
  return (
    <Dialog title={item?.subject ?? "Work"} wide onLeave={onLeave}>
      {loaded.error ? <Problem {...loaded} /> : null}
      {item === null ? (
        loaded.error ? (
          <Button kind="quiet" onClick={onLeave}>
            Close
          </Button>
        ) : (
          <Loading label="Loading the item" />
        )
      ) : editing ? (
        <EditForm
          item={item}
          onLeave={() => setEditing(false)}
          onDone={() => {
            setEditing(false);
            again();
          }}
        />
      ) : (
        <Shown item={item} view={view} again={again} onEdit={() => setEditing(true)} onLeave={onLeave} />
      )}
    </Dialog>
  );
}

interface ShownProps {
  item: Item;
  view: string;
  again: () => void;
  onEdit: () => void;
  onLeave: () => void;
}

function Shown({ item, view, again, onEdit, onLeave }: ShownProps) {
  const me = useMe();
  const [words, tone] = STATES[stateOf(item)];
  return (
    <div class={css.item}>
      <p class={css.badges}>
        <Badge tone={tone}>{words}</Badge>
        {item.role ? <Badge tone="accent">{`for ${item.role}`}</Badge> : null}
        {item.priority ? <Badge>{`priority ${item.priority}`}</Badge> : null}
        <code class={css.id}>{item.item_id}</code>
      </p>
      <div class={css.parts}>
        <div class={css.main}>
          {item.description ? (
            <Markdown text={item.description} />
          ) : (
            <p class={css.none}>It says nothing more than its name.</p>
          )}
          {item.result ? (
            <section class={css.result} aria-label="What came of it">
              <h3>What came of it</h3>
              <Markdown text={item.result} />
            </section>
          ) : null}
          <Ties item={item} view={view} again={again} />
          <Worktree item={item} again={again} />
        </div>
        <aside class={css.side}>
          <Details
            details={[
              ["Board", item.board],
              [
                item.status === "completed" ? "Done by" : "Who has it",
                item.owner ? <Owner item={item} me={me} /> : "nobody",
              ],
              item.claimed_at ? ["Since", <When key="since" iso={item.claimed_at} />] : null,
              item.completed_at ? ["Done", <When key="done" iso={item.completed_at} />] : null,
              ["Made", <When key="made" iso={item.created_at} />],
              item.task_id
                ? [
                    "In",
                    <Link key="in" href={chatOf(item.task_id)}>
                      {item.task_id}
                    </Link>,
                  ]
                : null,
              ["Version", item.version],
            ]}
          />
        </aside>
      </div>
      <Actions item={item} mine={item.owner === me} again={again} onEdit={onEdit} onLeave={onLeave} />
      <History item={item} me={me} />
    </div>
  );
}

function Owner({ item, me }: { item: Item; me: string }) {
  const name = named(item.owner ?? "", me);
  if (!item.owner_task_id) return <>{name}</>;
  return <Link href={taskOf(item.owner_task_id)}>{name}</Link>;
}
