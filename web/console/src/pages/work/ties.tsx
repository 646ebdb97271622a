// What an item waits for and what waits for it. What it waits for can be changed as long as nobody has it.

import { X } from "lucide-preact";
import { Link } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Problem } from "../../ui/page.tsx";
import { useChoice } from "./columns.ts";
import css from "./ties.module.css";
import { type Item, STATES, stateOf, work, workOf } from "./work.ts";

interface Props {
  item: Item;
  view: string;
  again: () => void;
}

interface Tie {
  id: string;
  /** Null: it is not there any more. */
  item: Item | null;
}

const tied = (ids: readonly string[]): Promise<Tie[]> =>
  Promise.all(
    ids.map((id) =>
      work.item(id).then(
        (item) => ({ id, item }),
        () => ({ id, item: null }),
      ),
    ),
  );

export function Ties({ item, view, again }: Props) {
  const { sending, problem, send } = useSending();
  const before = useLoaded(
    () => tied(item.blocked_by),
    [item.blocked_by.join(" "), item.waiting_for.join(" ")],
  );
  const choice = useChoice(item.board).value ?? [];
  const after = choice.filter((other) => other.blocked_by.includes(item.item_id));
  const settled = item.status !== "pending";
  const left = choice.filter(
    ({ item_id: id }) =>
      id !== item.item_id && !item.blocked_by.includes(id) && !after.some((one) => one.item_id === id),
  );
  const change = (edit: Parameters<typeof work.edit>[1]) =>
    void send(() => work.edit(item.item_id, edit).then(again));
  return (
    <>
      <section class={css.ties} aria-label="What it waits for">
        <h3>Waits for</h3>
        {item.blocked_by.length === 0 ? <p class={css.none}>Nothing.</p> : null}
        <List
          ties={before.value ?? item.blocked_by.map((id) => ({ id, item: null }))}
          loading={before.value === null}
          view={view}
          onDrop={settled || sending ? null : (id) => change({ remove_blocked_by: [id] })}
        />
        {settled || left.length === 0 ? null : (
          <Select
            label="Let it wait for"
            value=""
            disabled={sending}
            onChange={(event) => {
              const id = event.currentTarget.value;
              if (id) change({ add_blocked_by: [id] });
            }}
          >
            <option value="">Choose what has to be done first</option>
            {left.map((other) => (
              <option key={other.item_id} value={other.item_id}>
                {other.subject}
              </option>
            ))}
          </Select>
        )}
        {problem ? <Problem error={problem} /> : null}
      </section>
      {after.length ? (
        <section class={css.ties} aria-label="What waits for it">
          <h3>Waits for it</h3>
          <List ties={after.map((other) => ({ id: other.item_id, item: other }))} view={view} onDrop={null} />
        </section>
      ) : null}
    </>
  );
}

interface ListProps {
  ties: Tie[];
  loading?: boolean;
  view: string;
  onDrop: ((id: string) => void) | null;
}

function List({ ties, loading = false, view, onDrop }: ListProps) {
  if (ties.length === 0) return null;
  return (
    <ul class={css.list}>
      {ties.map(({ id, item }) => (
        <li key={id}>
          {item ? (
            <Link href={workOf({ board: item.board, item: id, view })}>{item.subject}</Link>
          ) : (
            <code>{id}</code>
          )}
          <Stands item={item} loading={loading} />
          {onDrop ? (
            <IconButton size="s" label={`Do not wait for ${item?.subject ?? id}`} onClick={() => onDrop(id)}>
              <X size={13} />
            </IconButton>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

function Stands({ item, loading }: { item: Item | null; loading: boolean }) {
  if (item === null) return loading ? null : <Badge tone="bad">gone</Badge>;
  const [words, tone] = STATES[stateOf(item)];
  return <Badge tone={tone}>{words}</Badge>;
}
