// What a person said, and what can be done with it: edit and send it again, ask again, copy.

import { Pencil, RotateCcw } from "lucide-preact";
import { useKept } from "../../lib/kept.ts";
import { CopyButton } from "../../markdown/code.tsx";
import { Long } from "../../markdown/long.tsx";
import type { Said } from "../../thread/items.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import type { Doing, Shown } from "./item-view.tsx";
import { MediaView } from "./media.tsx";
import css from "./said.module.css";

const HOW = { "": "", edited: "edited", again: "asked again", steered: "said while it ran" };

export function SaidBubble({ item, doing }: Shown<Said> & { doing: Doing | null }) {
  const [draft, setDraft] = useKept<string | null>(item, "draft", null);
  if (draft !== null && doing !== null) {
    return <Editing item={item} doing={doing} draft={draft} setDraft={setDraft} />;
  }
  return (
    <div class={css.said}>
      {item.media.map((block, at) => (
        <MediaView key={at} block={block} />
      ))}
      {item.text ? (
        <div class={css.bubble}>
          <Long text={item.text} />
        </div>
      ) : null}
      <div class={css.under}>
        {HOW[item.how] ? <span class={css.how}>{HOW[item.how]}</span> : null}
        {doing === null ? null : (
          <>
            <IconButton size="s" label="Edit and send again" onClick={() => setDraft(item.text)}>
              <Pencil size={13} />
            </IconButton>
            <IconButton size="s" label="Ask again" onClick={() => doing.retry(item.messageId)}>
              <RotateCcw size={13} />
            </IconButton>
          </>
        )}
        <CopyButton text={item.text} />
      </div>
    </div>
  );
}

interface EditingProps {
  item: Said;
  doing: Doing;
  draft: string;
  setDraft: (draft: string | null) => void;
}

function Editing({ item, doing, draft, setDraft }: EditingProps) {
  function send() {
    if (!draft.trim()) return;
    doing.edit(item.messageId, draft);
    setDraft(null);
  }
  return (
    <form
      class={css.editing}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label="Your message"
        autofocus
        rows={Math.min(12, draft.split("\n").length + 1)}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setDraft(null);
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class={css.buttons}>
        <span class={css.how}>What came after it is left behind; it stays on the thread.</span>
        <Button kind="quiet" onClick={() => setDraft(null)}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" disabled={!draft.trim()}>
          Send
        </Button>
      </div>
    </form>
  );
}
