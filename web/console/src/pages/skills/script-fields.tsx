import { Plus, X } from "lucide-preact";
import { useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button.tsx";
import { Input, Textarea } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import css from "./skills.module.css";

interface Props {
  scripts: Record<string, string>;
  onChange: (scripts: Record<string, string>) => void;
}

/** The files beside the instructions; commands in the sandbox can read them. */
export function ScriptFields({ scripts, onChange }: Props) {
  const [name, setName] = useState("");
  const taken = name.trim() in scripts;
  function add() {
    if (!name.trim() || taken) return;
    onChange({ ...scripts, [name.trim()]: "" });
    setName("");
  }
  return (
    <Card title="Files">
      {Object.entries(scripts).map(([file, text]) => (
        <div key={file} class={css.script}>
          <Textarea
            label={file}
            spellcheck={false}
            value={text}
            onInput={(event) => onChange({ ...scripts, [file]: event.currentTarget.value })}
          />
          <IconButton
            label={`Remove ${file}`}
            onClick={() =>
              onChange(Object.fromEntries(Object.entries(scripts).filter(([one]) => one !== file)))
            }
          >
            <X size={15} />
          </IconButton>
        </div>
      ))}
      <div class={css.adding}>
        <Input
          label="Another file"
          placeholder="scripts/changes.sh"
          value={name}
          error={taken ? "There is a file of this name." : null}
          onInput={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <Button disabled={!name.trim() || taken} onClick={add}>
          <Plus size={15} aria-hidden="true" /> Add
        </Button>
      </div>
    </Card>
  );
}
