// What a person may do with an item: take it, finish it, give it back, put it back, change it, take it off the board.
// What is the owner's to do can be done in their place; the history says so.

import { Check, Hand, Pencil, RotateCcw, Trash2, Undo2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { Button } from "../../ui/button.tsx";
import { Textarea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./item-actions.module.css";
import { type Item, work } from "./work.ts";

type Asking = "complete" | "release" | "delete" | null;

interface Props {
  item: Item;
  mine: boolean;
  again: () => void;
  onEdit: () => void;
  onLeave: () => void;
}

export function Actions({ item, mine, again, onEdit, onLeave }: Props) {
  const [asking, setAsking] = useState<Asking>(null);
  const { sending, problem, send } = useSending();
  const done = () => {
    setAsking(null);
    again();
  };
  if (asking)
    return <Asked asking={asking} item={item} mine={mine} onLeave={() => setAsking(null)} onDone={done} />;
  const held = item.status === "in_progress";
  const over = item.status === "completed" || item.status === "deleted";
  return (
    <div class={css.actions}>
      {problem ? <Problem error={problem} /> : null}
      <div class={css.buttons}>
        {item.ready ? (
          <Button
            kind="primary"
            disabled={sending}
            onClick={() => void send(() => work.claim(item.item_id).then(again))}
          >
            <Hand size={14} aria-hidden="true" /> Take it
          </Button>
        ) : null}
        {over ? (
          <Button disabled={sending} onClick={() => void send(() => work.reopen(item.item_id).then(again))}>
            <RotateCcw size={14} aria-hidden="true" /> Put it back
          </Button>
        ) : (
          <Button kind={held && mine ? "primary" : "plain"} onClick={() => setAsking("complete")}>
            <Check size={14} aria-hidden="true" /> Done
          </Button>
        )}
        {held ? (
          <Button onClick={() => setAsking("release")}>
            <Undo2 size={14} aria-hidden="true" /> Give it back
          </Button>
        ) : null}
        {over ? null : (
          <Button onClick={onEdit}>
            <Pencil size={14} aria-hidden="true" /> Change
          </Button>
        )}
        {item.status === "deleted" ? null : (
          <Button kind="quiet" onClick={() => setAsking("delete")}>
            <Trash2 size={14} aria-hidden="true" /> Take off the board
          </Button>
        )}
        <Button kind="quiet" class={css.close ?? ""} onClick={onLeave}>
          Close
        </Button>
      </div>
    </div>
  );
}

interface AskedProps {
  asking: NonNullable<Asking>;
  item: Item;
  mine: boolean;
  onLeave: () => void;
  onDone: () => void;
}

function Asked({ asking, item, mine, onLeave, onDone }: AskedProps) {
  const [words, setWords] = useState("");
  const id = item.item_id;
  const said = words.trim() || null;
  const override = !mine;
  if (asking === "delete") {
    return (
      <Form
        danger
        submit="Take it off"
        leave="Keep it"
        onLeave={onLeave}
        send={() => work.discard(id, true).then(onDone)}
      >
        <p>It stays readable. What waits for it goes on waiting until that is changed.</p>
      </Form>
    );
  }
  const whose =
    item.owner && !mine
      ? `${item.owner} has it; the history will say that you did this in their place.`
      : null;
  if (asking === "release") {
    return (
      <Form
        submit="Give it back"
        onLeave={onLeave}
        send={() => work.release(id, { reason: said, override }).then(onDone)}
      >
        <Textarea
          label="Why"
          hint={whose ?? "It is nobody's then, and can be taken again."}
          rows={2}
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </Form>
    );
  }
  return (
    <Form
      submit="It is done"
      onLeave={onLeave}
      send={() => work.complete(id, { result: said, override }).then(onDone)}
    >
      <Textarea
        label="What came of it"
        hint={whose ?? "For whoever goes on from here."}
        rows={4}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
    </Form>
  );
}
