// Putting a piece of work on a board, or changing what one says.

import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Textarea } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { Chooser } from "./chooser.tsx";
import { type Item, work } from "./work.ts";

export interface Draft {
  subject: string;
  description: string;
  role: string;
  priority: number;
}

interface FieldsProps {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

function Fields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <Input
        label="What is to be done"
        required
        maxLength={300}
        value={draft.subject}
        onInput={(event) => onChange({ subject: event.currentTarget.value })}
      />
      <Textarea
        label="Details"
        hint="All that whoever does it has to know. Markdown is fine."
        rows={6}
        value={draft.description}
        onInput={(event) => onChange({ description: event.currentTarget.value })}
      />
      <Pair>
        <Input
          label="Role"
          hint="Who may take it unasked; empty: anybody"
          maxLength={64}
          value={draft.role}
          onInput={(event) => onChange({ role: event.currentTarget.value })}
        />
        <Input
          label="Priority"
          hint="−100 to 100; the higher, the sooner"
          type="number"
          min={-100}
          max={100}
          value={draft.priority}
          onInput={(event) => onChange({ priority: Number(event.currentTarget.value) })}
        />
      </Pair>
    </>
  );
}

interface CreateProps {
  board: string;
  onLeave: () => void;
  onDone: (made: Item) => void;
}

export function CreateDialog({ board, onLeave, onDone }: CreateProps) {
  const [draft, setDraft] = useState<Draft>({ subject: "", description: "", role: "", priority: 0 });
  const [name, setName] = useState(board);
  const [needs, setNeeds] = useState<string[]>([]);
  async function create() {
    const { items } = await work.create(name, {
      ...{ subject: draft.subject.trim(), description: draft.description, priority: draft.priority },
      ...{ role: draft.role.trim() || null, blocked_by: needs },
    });
    if (items[0]) onDone(items[0]);
  }
  return (
    <Dialog title="Add work" onLeave={onLeave}>
      <Form
        submit="Add"
        ready={draft.subject.trim() !== "" && name.trim() !== ""}
        send={create}
        onLeave={onLeave}
      >
        <Fields draft={draft} onChange={(change) => setDraft((was) => ({ ...was, ...change }))} />
        <Input
          label="Board"
          hint="A name that is new makes a board"
          maxLength={64}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <Chooser board={board} chosen={needs} onChange={setNeeds} />
      </Form>
    </Dialog>
  );
}

interface EditProps {
  item: Item;
  onLeave: () => void;
  onDone: () => void;
}

/** Says what is to be another; refused when somebody else has changed it meanwhile. */
export function EditForm({ item, onLeave, onDone }: EditProps) {
  const [draft, setDraft] = useState<Draft>({
    ...{ subject: item.subject, description: item.description },
    ...{ role: item.role ?? "", priority: item.priority },
  });
  const [version] = useState(item.version);
  return (
    <Form
      submit="Save"
      ready={draft.subject.trim() !== ""}
      send={async () => {
        await work.edit(item.item_id, { ...draft, version });
        onDone();
      }}
      onLeave={onLeave}
    >
      <Fields draft={draft} onChange={(change) => setDraft((was) => ({ ...was, ...change }))} />
    </Form>
  );
}
