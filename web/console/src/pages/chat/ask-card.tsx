// A question to the person, in the thread where it was asked.

import { AnswerForm } from "../../asking/answer-form.tsx";
import { RequestText } from "../../asking/request-text.tsx";
import type { Ask } from "../../thread/items.ts";
import css from "./ask-card.module.css";
import type { Shown } from "./item-view.tsx";

export function AskCard({ item }: Shown<Ask>) {
  const request = { ...item.request, ...(item.prompt?.effects && { effects: item.prompt.effects }) };
  return (
    <section class={`${css.ask} ${item.state === "open" ? css.open : ""}`} aria-label="The agent asks you">
      <RequestText request={request} />
      {item.state === "open" ? <AnswerForm request={request} /> : <Outcome item={item} />}
    </section>
  );
}

function Outcome({ item }: { item: Ask }) {
  if (item.state === "void") return <p class={css.outcome}>Not answered; the turn has ended.</p>;
  return (
    <p class={css.outcome}>
      Answered: <strong>{item.answer}</strong>
      {item.feedback ? ` “${item.feedback}”` : ""}
    </p>
  );
}
