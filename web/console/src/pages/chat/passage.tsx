// What the model writes, as it grows. After a restart the answer is written anew: what had been written stays, paler,
// until as much of it is there again, so that nobody loses the place.

import { ChevronRight } from "lucide-preact";
import { useKept } from "../../lib/kept.ts";
import { Long } from "../../markdown/long.tsx";
import { Markdown } from "../../markdown/markdown.tsx";
import type { Passage } from "../../thread/items.ts";
import type { Shown } from "./item-view.tsx";
import css from "./passage.module.css";

export function PassageText({ item }: Shown<Passage>) {
  const again = !item.done && item.text.length < item.before.length;
  const text = again ? item.before : item.text;
  if (!text.trim()) return null;
  if (item.thinking) return <Thought item={item} rev={item.rev} text={text} />;
  return (
    <div class={again ? css.again : undefined} data-passage>
      <Markdown text={text} growing={!item.done} />
    </div>
  );
}

function Thought({ item, text }: Shown<Passage> & { text: string }) {
  const [open, setOpen] = useKept(item, "open", false);
  return (
    <section class={css.thought} aria-label="Thought">
      <button type="button" class={css.head} aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} class={css.arrow} aria-hidden="true" />
        {item.done ? "Thought" : <span class={css.live}>Thinking…</span>}
      </button>
      {open ? (
        <div class={css.text}>
          <Long text={text} />
        </div>
      ) : null}
    </section>
  );
}
