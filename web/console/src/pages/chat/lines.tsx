// The small items of a thread: what waits to be read, notes, and how a turn ended.

import { GitFork } from "lucide-preact";
import { duration, money, short } from "../../lib/words.ts";
import { CopyButton } from "../../markdown/code.tsx";
import { Long } from "../../markdown/long.tsx";
import type { End, Note } from "../../thread/items.ts";
import type { WaitingMessage } from "../../thread/thread.ts";
import { IconButton } from "../../ui/button.tsx";
import type { Doing, Shown } from "./item-view.tsx";
import css from "./lines.module.css";
import said from "./said.module.css";

const WAITS: Record<string, string> = { steer: "will be read at the next step", "": "sending" };

export function WaitingBubble({ message }: { message: WaitingMessage }) {
  return (
    <div class={said.said}>
      <div class={`${said.bubble} ${said.waits}`}>
        <Long text={message.text} />
      </div>
      <span class={said.how}>{WAITS[message.mode ?? ""] ?? "waits for its turn"}</span>
    </div>
  );
}

export function NoteLine({ item }: Shown<Note>) {
  return (
    <p class={`${css.note} ${css[item.tone]}`} role={item.tone === "bad" ? "alert" : undefined}>
      <Long text={item.text} />
    </p>
  );
}

const ENDED: Record<string, string> = { completed: "", errored: "Failed", cancelled: "Stopped" };

export function EndLine({ item, doing }: Shown<End> & { doing: Doing | null }) {
  const { totals } = item;
  const facts = [
    ENDED[item.phase],
    duration(item.ms),
    totals.output ? `${short(totals.input)} in, ${short(totals.output)} out` : "",
    totals.input && totals.cached ? `${Math.round((100 * totals.cached) / totals.input)} % cached` : "",
    totals.cost === null ? "" : money(totals.cost),
  ];
  return (
    <footer class={css.end}>
      <span>{facts.filter(Boolean).join(" · ")}</span>
      {doing === null ? null : (
        <>
          {item.answer ? <CopyButton text={item.answer} label="Copy the answer" /> : null}
          <IconButton size="s" label="Fork from here" onClick={() => doing.fork(item.seq)}>
            <GitFork size={13} />
          </IconButton>
        </>
      )}
    </footer>
  );
}
