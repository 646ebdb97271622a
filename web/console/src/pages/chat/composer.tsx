// Where a message is written. While a turn runs it can be stopped, steered, or the next message queued. What is written
// stays on reload; files come by drop, paste or the button.

import { ArrowUp, Paperclip, Square } from "lucide-preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { forget, recall, remember } from "../../lib/storage.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { type Attachment, attached } from "./attachments.ts";
import css from "./composer.module.css";
import { useDropping } from "./dropping.ts";
import { Enclosed } from "./enclosed.tsx";
import { type Busy, Modes } from "./modes.tsx";

interface Props {
  /** Under which name the draft is kept. */
  draft: string;
  running: boolean;
  /** Whether the turn that runs waits for an answer. */
  waits: boolean;
  send: (text: string, media: Attachment[], busy: Busy) => Promise<void>;
  stop: () => void;
}

const DROP = "Drop it to attach it";
const FREE = "Ask anything, or give it something to do…";
const WORKS = "Say something while it works…";
const WAITS = "It waits for your answer above…";
const hint = (running: boolean, waits: boolean) => (running ? (waits ? WAITS : WORKS) : FREE);
const TALLEST = 240;

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function useDraft(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => recall(name, ""));
  function write(now: string) {
    setText(now);
    if (now) remember(name, now);
    else forget(name);
  }
  return [text, write];
}

export function Composer({ draft, running, waits, send, stop }: Props) {
  const [text, setText] = useDraft(`draft.${draft}`);
  const [media, setMedia] = useState<Attachment[]>([]);
  const [busy, setBusy] = useState<Busy>("steer");
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, TALLEST)}px`;
  }, [text]);
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);

  async function take(files: Iterable<File>) {
    setProblem(null);
    try {
      const more = await Promise.all([...files].map(attached));
      setMedia((known) => [...known, ...more]);
    } catch (error) {
      setProblem(sentence(error));
    }
  }
  const over = useDropping((files) => void take(files));
  async function submit() {
    const words = text.trim();
    if (!words && media.length === 0) return;
    setProblem(null);
    setText("");
    setMedia([]);
    try {
      await send(words, media, busy);
    } catch (error) {
      setText(words);
      setMedia(media);
      setProblem(sentence(error));
    }
  }
  function press(event: KeyboardEvent) {
    if (event.key === "Escape" && running && !text) stop();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  }
  return (
    <form
      class={css.composer}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {problem ? (
        <p class={css.problem} role="alert">
          {problem}
        </p>
      ) : null}
      <div class={`${css.box} ${over ? css.over : ""}`}>
        <Enclosed
          media={media}
          remove={(one) => setMedia((known) => known.filter((other) => other !== one))}
        />
        <textarea
          ref={field}
          rows={1}
          class={css.field}
          aria-label="Message"
          data-primary-field
          placeholder={over ? DROP : hint(running, waits)}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onPaste={(event) => {
            const files = event.clipboardData?.files;
            if (!files?.length) return;
            event.preventDefault();
            void take(files);
          }}
          onKeyDown={press}
        />
        <div class={css.row}>
          <IconButton label="Attach a file" size="s" onClick={() => picker.current?.click()}>
            <Paperclip size={16} />
          </IconButton>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={(event) => {
              void take([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = "";
            }}
          />
          {running ? <Modes busy={busy} choose={setBusy} /> : null}
          <span class={css.gap} />
          {running ? (
            <Button size="s" onClick={stop} title="Stop (Escape)">
              <Square size={12} /> Stop
            </Button>
          ) : null}
          <IconButton
            label="Send"
            kind="primary"
            type="submit"
            size="s"
            disabled={!text.trim() && media.length === 0}
          >
            <ArrowUp size={16} />
          </IconButton>
        </div>
      </div>
    </form>
  );
}
