// Making a team by hand: who is in it, and what each is told first.

import { Plus, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select, Textarea } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { work } from "../work/work.ts";
import css from "./create.module.css";
import { type MemberDraft, type Team, teams } from "./teams.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const WRONG = "Letters, digits, - and _ only.";
const blank = (): MemberDraft => ({ name: "", role: "", prompt: "", require_plan: false });

interface Props {
  onLeave: () => void;
  onDone: (team: Team) => void;
}

export function CreateTeam({ onLeave, onDone }: Props) {
  const [name, setName] = useState("");
  const [board, setBoard] = useState("");
  const boards = useLoaded(work.boards, []).value?.boards ?? [];
  const [members, setMembers] = useState<MemberDraft[]>([blank()]);
  const ready =
    (name === "" || NAME.test(name)) &&
    members.every((one) => NAME.test(one.name) && one.prompt.trim() !== "");
  const change = (at: number, part: Partial<MemberDraft>) =>
    setMembers((was) => was.map((one, place) => (place === at ? { ...one, ...part } : one)));
  return (
    <Dialog title="New team" wide onLeave={onLeave}>
      <Form
        submit="Begin"
        ready={ready}
        onLeave={onLeave}
        send={async () => onDone(await teams.create(name, board, members))}
      >
        <Pair>
          <Input
            label="What it is called"
            maxLength={64}
            spellcheck={false}
            error={name === "" || NAME.test(name) ? null : WRONG}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <Select
            label="Board it works on"
            value={board}
            onChange={(event) => setBoard(event.currentTarget.value)}
          >
            <option value="">one of its own</option>
            {boards.map((one) => (
              <option key={one.board} value={one.board}>
                {`${one.board} (${one.ready} ready)`}
              </option>
            ))}
          </Select>
        </Pair>
        {members.map((member, at) => (
          <MemberFields
            key={at}
            at={at}
            member={member}
            onChange={(part) => change(at, part)}
            onDrop={members.length > 1 ? () => setMembers(members.toSpliced(at, 1)) : null}
          />
        ))}
        <div>
          <Button size="s" onClick={() => setMembers([...members, blank()])}>
            <Plus size={13} aria-hidden="true" /> One more
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  at: number;
  member: MemberDraft;
  onChange: (part: Partial<MemberDraft>) => void;
  onDrop: (() => void) | null;
}

function MemberFields({ at, member, onChange, onDrop }: FieldsProps) {
  const wrong = member.name !== "" && !NAME.test(member.name);
  return (
    <fieldset class={css.member}>
      <legend>{`Member ${at + 1}`}</legend>
      {onDrop ? (
        <IconButton size="s" class={css.drop ?? ""} label={`Leave out member ${at + 1}`} onClick={onDrop}>
          <Trash2 size={13} />
        </IconButton>
      ) : null}
      <Pair>
        <Input
          label="Name"
          required
          spellcheck={false}
          error={wrong ? WRONG : null}
          value={member.name}
          onInput={(event) => onChange({ name: event.currentTarget.value })}
        />
        <Input
          label="Role"
          hint="Which work it takes by itself"
          value={member.role}
          onInput={(event) => onChange({ role: event.currentTarget.value })}
        />
      </Pair>
      <Textarea
        label="What it is told first"
        required
        rows={3}
        value={member.prompt}
        onInput={(event) => onChange({ prompt: event.currentTarget.value })}
      />
      <label class={css.plan}>
        <input
          type="checkbox"
          checked={member.require_plan}
          onChange={(event) => onChange({ require_plan: event.currentTarget.checked })}
        />
        It changes nothing before its plan is approved
      </label>
    </fieldset>
  );
}
