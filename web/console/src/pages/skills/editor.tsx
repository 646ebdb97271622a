// The fields of a skill with its instructions beside what they will look like. A whole SKILL.md that is pasted into the
// instructions fills in the fields from its head.

import { useState } from "preact/hooks";
import { Code } from "../../markdown/code.tsx";
import { Markdown } from "../../markdown/markdown.tsx";
import { Input, Textarea } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { Names } from "../../ui/names.tsx";
import { Card } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { ScriptFields } from "./script-fields.tsx";
import { type Draft, fromText, toText } from "./skill-text.ts";
import css from "./skills.module.css";

interface Props {
  draft: Draft;
  onChange: (draft: Draft) => void;
  submit: string;
  send: () => Promise<unknown>;
  onLeave: () => void;
  /** Whether it has no name yet. */
  fresh?: boolean;
}

export function Editor({ draft, onChange, submit, send, onLeave, fresh = false }: Props) {
  const put = (part: Partial<Draft>) => onChange({ ...draft, ...part });
  function write(text: string) {
    const found = fromText(text);
    put(found ? { ...found, ...(!fresh && { name: draft.name }) } : { prompt: text });
  }
  const filled = Boolean(draft.prompt.trim() || Object.keys(draft.scripts).length);
  return (
    <Form submit={submit} send={send} onLeave={onLeave} ready={Boolean(draft.name.trim()) && filled}>
      <Card>
        <Pair>
          <Input
            label="Name"
            autofocus={fresh}
            readOnly={!fresh}
            value={draft.name}
            placeholder="release-notes"
            hint={fresh ? "Lowercase letters and digits, joined by hyphens." : "A name stays."}
            onInput={(event) => put({ name: event.currentTarget.value })}
          />
          <Input
            label="Category"
            value={draft.category}
            placeholder="writing"
            onInput={(event) => put({ category: event.currentTarget.value })}
          />
        </Pair>
        <Input
          label="Description"
          value={draft.description}
          maxLength={1024}
          hint="What it is for and when to use it: a model chooses by this line."
          onInput={(event) => put({ description: event.currentTarget.value })}
        />
        <Names
          label="Good at"
          placeholder="Tags, such as changelog"
          value={draft.capabilities}
          onChange={(capabilities) => put({ capabilities })}
        />
      </Card>
      <div class={css.columns}>
        <div class={css.writing}>
          <Textarea
            label="Instructions"
            value={draft.prompt}
            spellcheck
            placeholder={"1. Look at …\n2. Write …"}
            hint="Markdown. {{name}} takes a parameter. Paste a whole SKILL.md and its head fills in the rest."
            onInput={(event) => write(event.currentTarget.value)}
          />
        </div>
        <Preview draft={draft} />
      </div>
      <ScriptFields scripts={draft.scripts} onChange={(scripts) => put({ scripts })} />
    </Form>
  );
}

const VIEWS = [
  ["read", "Preview"],
  ["file", "SKILL.md"],
] as const;

function Preview({ draft }: { draft: Draft }) {
  const [view, setView] = useState<"read" | "file">("read");
  return (
    <section class={css.preview} aria-label="Preview">
      <Segments label="Shown as" value={view} options={VIEWS} onChoose={setView} />
      {view === "file" ? <Code text={toText(draft)} language="markdown" /> : null}
      {view === "read" && draft.prompt ? <Markdown text={draft.prompt} /> : null}
      {view === "read" && !draft.prompt ? <p class={css.meaning}>What you write appears here.</p> : null}
    </section>
  );
}
