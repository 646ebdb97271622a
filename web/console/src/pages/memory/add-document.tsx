import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Textarea } from "../../ui/field.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./correct.module.css";
import { memory } from "./memory.ts";

/** A text to be remembered, typed or read from a file. */
export function AddDocument({ onDone, onLeave }: { onDone: () => void; onLeave: () => void }) {
  const [draft, setDraft] = useState({ document: "", title: "", text: "" });
  const { sending, problem, send } = useSending();
  async function take(file: File | undefined) {
    if (file) setDraft({ ...draft, document: draft.document || file.name, text: await file.text() });
  }
  async function save() {
    if (await send(() => memory.ingest(draft))) onDone();
  }
  const bound = (name: keyof typeof draft) => ({
    value: draft[name],
    dir: "auto" as const,
    onInput: (event: { currentTarget: { value: string } }) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
  });
  return (
    <Dialog title="Add a document" onLeave={onLeave} wide>
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Input
          label="From a file"
          type="file"
          accept=".txt,.md,.csv,.json,.html,text/*"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
        <Input label="Name" hint="The same name again replaces it." required {...bound("document")} />
        <Input label="Title" {...bound("title")} />
        <Textarea label="Text" rows={8} required {...bound("text")} />
        {problem ? <Problem error={problem} /> : null}
        <div class={css.buttons}>
          <Button onClick={onLeave}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={sending || !draft.document || !draft.text}>
            Remember it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
