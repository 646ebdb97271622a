import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select, Textarea } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { Names } from "../../ui/names.tsx";
import css from "./agents.module.css";
import { bodyOf, type Draft } from "./drafts.ts";
import { keep, type Parts, parts } from "./routes.ts";

interface Props {
  first: Draft;
  /** Whether it has no name yet. */
  fresh: boolean;
  onLeave: () => void;
  onDone: () => void;
}

type Put = (part: Partial<Draft>) => void;

/** An agent of one's own, written or changed. */
export function AgentDialog({ first, fresh, onLeave, onDone }: Props) {
  const [draft, setDraft] = useState(first);
  const { value: known } = useLoaded(parts, []);
  const put: Put = (part) => setDraft((was) => ({ ...was, ...part }));
  const ready = Boolean(draft.name.trim() && draft.description.trim() && draft.prompt.trim());
  return (
    <Dialog title={fresh ? "New agent" : `Edit ${first.name}`} onLeave={onLeave} wide>
      <Form
        submit={fresh ? "Create" : "Save"}
        onLeave={onLeave}
        ready={ready}
        send={async () => {
          await keep(draft.name.trim(), bodyOf(draft));
          onDone();
        }}
      >
        <Pair>
          <Input
            label="Name"
            autofocus={fresh}
            readOnly={!fresh}
            value={draft.name}
            placeholder="reviewer"
            hint={fresh ? "Lowercase letters, digits, _ and -." : "A name stays."}
            onInput={(event) => put({ name: event.currentTarget.value })}
          />
          <ModelField draft={draft} known={known} put={put} />
        </Pair>
        <Input
          label="Description"
          value={draft.description}
          hint="What it is for; others decide by this whether to hand work to it."
          onInput={(event) => put({ description: event.currentTarget.value })}
        />
        <div class={css.writing}>
          <Textarea
            label="Prompt"
            value={draft.prompt}
            placeholder="You review changes …"
            hint="Who it is and how it works."
            onInput={(event) => put({ prompt: event.currentTarget.value })}
          />
        </div>
        <ToolFields draft={draft} known={known} put={put} />
        <Names
          label="Skills it loads first"
          value={draft.skills}
          known={known?.skills ?? []}
          onChange={(skills) => put({ skills })}
        />
        <Limits draft={draft} put={put} />
      </Form>
    </Dialog>
  );
}

interface PartProps {
  draft: Draft;
  known: Parts | null;
  put: Put;
}

function ModelField({ draft, known, put }: PartProps) {
  const models = new Set([...(known?.models ?? []), ...(draft.model ? [draft.model] : [])]);
  return (
    <Select
      label="Model"
      value={draft.model}
      hint="Others than the usual one have to be allowed by the operator."
      onChange={(event) => put({ model: event.currentTarget.value })}
    >
      <option value="">{known ? `The usual one (${known.usual})` : "The usual one"}</option>
      {[...models].map((model) => (
        <option key={model} value={model}>
          {model}
        </option>
      ))}
    </Select>
  );
}

function ToolFields({ draft, known, put }: PartProps) {
  const tools = known?.tools ?? [];
  return (
    <>
      <Select
        label="Tools"
        value={draft.narrowed ? "some" : "all"}
        onChange={(event) => put({ narrowed: event.currentTarget.value === "some" })}
      >
        <option value="all">Everything there is</option>
        <option value="some">Only some</option>
      </Select>
      {draft.narrowed ? (
        <Names
          label="It may call"
          placeholder="read_file, grep, github.*"
          hint="Names, or patterns. Without any it can call nothing."
          value={draft.tools}
          known={tools}
          onChange={(names) => put({ tools: names })}
        />
      ) : null}
      <Names
        label="But not"
        placeholder="Names, or patterns"
        value={draft.without}
        known={tools}
        onChange={(names) => put({ without: names })}
      />
    </>
  );
}

function Limits({ draft, put }: { draft: Draft; put: Put }) {
  return (
    <Pair>
      <Select
        label="Permission mode"
        value={draft.mode}
        hint="Never wider than that of the message."
        onChange={(event) => put({ mode: event.currentTarget.value as Draft["mode"] })}
      >
        <option value="">That of the message</option>
        <option value="plan">plan: only look</option>
        <option value="default">default</option>
        <option value="auto">auto</option>
        <option value="bypass">bypass</option>
      </Select>
      <Input
        label="Most model calls of a turn"
        type="number"
        min={1}
        max={10_000}
        value={draft.calls}
        placeholder="No limit of its own"
        onInput={(event) => put({ calls: event.currentTarget.value })}
      />
    </Pair>
  );
}
