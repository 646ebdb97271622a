// A tool call: what is called with what, what it says while it runs, and what it came to. A change of a file is a diff.

import { Check, ChevronRight, CircleAlert, CircleDashed, Hand, LoaderCircle } from "lucide-preact";
import { useKept } from "../../lib/kept.ts";
import { visible } from "../../lib/safe.ts";
import { duration } from "../../lib/words.ts";
import { Highlighted } from "../../markdown/code.tsx";
import { Long } from "../../markdown/long.tsx";
import type { Call } from "../../thread/items.ts";
import { Artifact } from "./artifact.tsx";
import css from "./call-card.module.css";
import { changeOf, Diff } from "./diff.tsx";
import type { Shown } from "./item-view.tsx";
import { MediaView } from "./media.tsx";

const MARKS = {
  written: CircleDashed,
  running: LoaderCircle,
  waiting: Hand,
  done: Check,
  failed: CircleAlert,
  dropped: CircleDashed,
};
const WORDS = {
  written: "about to run",
  running: "runs",
  waiting: "waits for you",
  done: "done",
  failed: "failed",
  dropped: "not run",
};
const GIST = ["command", "path", "file_path", "pattern", "query", "url", "description", "name", "message"];
const GIST_CHARS = 300;

/** The one thing about a call that says most of it. */
function gist(input: Call["input"]): string {
  for (const name of GIST) {
    const value = input?.[name];
    if (typeof value === "string" && value) return visible(value.slice(0, GIST_CHARS));
  }
  return "";
}

/** How it stands in a word, or how long it took. */
function state({ status, ms }: Call): string {
  if (ms === null) return WORDS[status];
  return status === "failed" ? `failed after ${duration(ms)}` : duration(ms);
}

export function CallCard({ item, taskId }: Shown<Call> & { taskId: string }) {
  const change = changeOf(item);
  const [chosen, choose] = useKept<boolean | null>(item, "open", null);
  const speaks = item.progress !== "" && item.status === "running";
  const shows = change !== null || speaks || item.content.length > 0;
  const open = chosen ?? shows;
  const told = change === null || chosen === true || item.status === "failed";
  const Mark = MARKS[item.status];
  return (
    <section class={`${css.card} ${css[item.status]}`} aria-label={`Tool call ${item.tool}`}>
      <button type="button" class={css.head} aria-expanded={open} onClick={() => choose(!open)}>
        <Mark size={15} class={css.mark} aria-hidden="true" />
        <span class={css.tool}>{item.tool}</span>
        <span class={css.gist}>{gist(item.input)}</span>
        <span class={css.ms}>{state(item)}</span>
        <ChevronRight size={14} class={css.arrow} aria-hidden="true" />
      </button>
      {open ? (
        <div class={css.body}>
          {change === null ? null : <Diff change={change} />}
          {told ? <Details item={item} input={chosen === true && change === null} /> : null}
          {item.content.map((block, at) =>
            block.type === "text" ? null : <MediaView key={at} block={block} />,
          )}
          {item.artifacts.map((artifact) => (
            <Artifact key={artifact.id} taskId={taskId} artifact={artifact} />
          ))}
        </div>
      ) : null}
    </section>
  );
}

function Details({ item, input }: { item: Call; input: boolean }) {
  const output = item.output ?? item.progress;
  const sent = input && item.input ? visible(JSON.stringify(item.input, null, 2)) : "";
  return (
    <>
      {sent ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long input is scrolled with the keyboard
        <pre class={css.text} tabIndex={0}>
          <Long text={sent} draw={(shown) => <Highlighted text={shown} language="json" />} />
        </pre>
      ) : null}
      {output ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long output is scrolled with the keyboard
        <pre class={css.text} tabIndex={0}>
          <Long text={output} />
        </pre>
      ) : null}
    </>
  );
}
