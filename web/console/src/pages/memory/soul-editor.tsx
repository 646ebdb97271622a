import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { Button } from "../../ui/button.tsx";
import { Textarea } from "../../ui/field.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./correct.module.css";
import { read, written } from "./fields.ts";
import { memory } from "./memory.ts";

interface Props {
  soul: wire.SoulAnswer;
  onDone: () => void;
  onLeave: () => void;
}

/** A new version of the soul; the ones before stay in the history. */
export function SoulEditor({ soul, onDone, onLeave }: Props) {
  const [draft, setDraft] = useState({
    identity: soul.identity,
    values: written(soul.values),
    patterns: written(soul.patterns),
    voice: soul.voice ?? "",
  });
  const { sending, problem, send } = useSending();
  async function save() {
    const body = {
      identity: draft.identity.trim(),
      values: read(draft.values, "lines") as string[],
      patterns: read(draft.patterns, "lines") as string[],
      voice: draft.voice.trim() || null,
    };
    if (await send(() => memory.changeSoul(body))) onDone();
  }
  const bound = (name: keyof typeof draft, rows: number) => ({
    value: draft[name],
    rows: Math.max(rows, draft[name].split("\n").length + 1),
    dir: "auto" as const,
    onInput: (event: { currentTarget: { value: string } }) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
  });
  return (
    <form
      class={css.form}
      aria-label="Change the soul"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Textarea label="Identity" {...bound("identity", 3)} />
      <Textarea label="Values" hint="One to a line." {...bound("values", 3)} />
      <Textarea label="Patterns" hint="How it works; one to a line." {...bound("patterns", 3)} />
      <Textarea label="Voice" {...bound("voice", 2)} />
      {problem ? <Problem error={problem} /> : null}
      <div class={css.buttons}>
        <Button onClick={onLeave}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={sending || !draft.identity.trim()}>
          Save as a new version
        </Button>
      </div>
    </form>
  );
}
