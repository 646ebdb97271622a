// A sub-agent: what it was given to do, what it does, nested, and what it said at its end.

import { Bot, ChevronRight } from "lucide-preact";
import { Link } from "wouter-preact";
import { useKept } from "../../lib/kept.ts";
import { money, plural } from "../../lib/words.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import type { Agent } from "../../thread/items.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import css from "./agent-card.module.css";
import { ItemView, type Shown, shows } from "./item-view.tsx";

const TONES: Record<Agent["status"], Tone> = {
  started: "info",
  completed: "good",
  errored: "bad",
  cancelled: "plain",
};

/** What it is at, in a few words. */
function doingNow({ inner }: Agent): string {
  const calls = inner.items.filter((item) => item.kind === "call");
  const last = calls.at(-1);
  return last ? `${last.tool}, ${plural(calls.length, "call")}` : "";
}

export function AgentCard({ item }: Shown<Agent>) {
  const [open, setOpen] = useKept(item, "open", false);
  const asks = item.inner.asking !== undefined;
  const shown = open || asks;
  return (
    <section class={css.card} aria-label={`Sub-agent ${item.agent}`}>
      <button type="button" class={css.head} aria-expanded={shown} onClick={() => setOpen(!open)}>
        <Bot size={15} aria-hidden="true" />
        <span class={css.name}>{item.agent}</span>
        <span class={css.about}>{item.description}</span>
        {item.status === "started" ? <span class={css.now}>{doingNow(item)}</span> : null}
        {item.background ? <Badge>background</Badge> : null}
        <Badge tone={asks ? "warn" : TONES[item.status]}>
          {asks ? "waits for you" : item.status === "started" ? "works" : item.status}
        </Badge>
        <ChevronRight size={14} class={css.arrow} aria-hidden="true" />
      </button>
      {shown ? <Inside item={item} /> : null}
    </section>
  );
}

function Inside({ item }: { item: Agent }) {
  const said = item.inner.items.some(
    (inside) => inside.kind === "passage" && !inside.thinking && inside.text,
  );
  return (
    <div class={css.inner}>
      {item.inner.items.filter(shows).map((inside) => (
        <ItemView key={inside.id} item={inside} rev={inside.rev} doing={null} taskId={item.childTaskId} />
      ))}
      {item.result && !said ? <Markdown text={item.result} /> : null}
      <p class={css.foot}>
        {item.cost === null ? null : <span>{money(item.cost)}</span>}
        {item.childTaskId ? (
          <Link href={`/tasks/${encodeURIComponent(item.childTaskId)}`}>Its whole thread</Link>
        ) : null}
      </p>
    </div>
  );
}
