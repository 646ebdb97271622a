// An item of the conversation in the past: it can be looked at, and nothing of it can be answered or sent again.

import { RequestText } from "../../asking/request-text.tsx";
import type { Ask, Item } from "../../thread/items.ts";
import { ItemView } from "../chat/item-view.tsx";
import css from "./replay-item.module.css";

export function ReplayItem({ item, taskId }: { item: Item; taskId: string }) {
  if (item.kind === "ask") return <PastAsk item={item} />;
  return <ItemView item={item} rev={item.rev} doing={null} taskId={taskId} />;
}

const STATES = { open: "Not answered yet.", void: "Never answered; the turn ended." };

function PastAsk({ item }: { item: Ask }) {
  const request = { ...item.request, ...(item.prompt?.effects && { effects: item.prompt.effects }) };
  return (
    <section class={css.ask} aria-label="A person was asked">
      <RequestText request={request} />
      <p class={css.state}>{item.state === "answered" ? `Answered: ${item.answer}` : STATES[item.state]}</p>
    </section>
  );
}
