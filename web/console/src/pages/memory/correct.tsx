// A memory put right in its place: the fields of its kind as a form; only what was changed is sent.

import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { Button } from "../../ui/button.tsx";
import { Input, Select, Textarea } from "../../ui/field.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./correct.module.css";
import { changed, type Draft, draftOf, type Field, fieldsOf } from "./fields.ts";
import { type Kept, memory } from "./memory.ts";

interface Props {
  record: Kept;
  onDone: (id: string) => void;
  onLeave: () => void;
}

export function Correct({ record, onDone, onLeave }: Props) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(record));
  const { sending, problem, send } = useSending();
  const fields = changed(record, draft);
  const save = () => send(async () => onDone((await memory.correct(record.id, fields)).record.id));
  return (
    <form
      class={css.form}
      aria-label="Correct this memory"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {fieldsOf(record.kind).map((field) => (
        <One
          key={field.name}
          field={field}
          value={draft[field.name] ?? ""}
          onInput={(value) => setDraft({ ...draft, [field.name]: value })}
        />
      ))}
      {problem ? <Problem error={problem} /> : null}
      <div class={css.buttons}>
        <Button onClick={onLeave}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={sending || Object.keys(fields).length === 0}>
          Save the correction
        </Button>
      </div>
    </form>
  );
}

interface OneProps {
  field: Field;
  value: string;
  onInput: (value: string) => void;
}

function One({ field: { label, shape }, value, onInput }: OneProps) {
  const given = {
    label,
    value,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  if (typeof shape !== "string")
    return (
      <Select {...given}>
        {[...new Set([...shape, value])].filter(Boolean).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
    );
  if (shape === "line") return <Input dir="auto" {...given} />;
  if (shape === "number") return <Input type="number" min={0} max={1} step="any" required {...given} />;
  return <Textarea dir="auto" rows={Math.min(12, value.split("\n").length + 1)} {...given} />;
}
