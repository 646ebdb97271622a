// The fields that say when something is due, by its kind.

import { Input, Select } from "../../ui/field.tsx";
import { Pair } from "../../ui/form.tsx";
import { type Draft, UNITS } from "./draft.ts";

interface Props {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}

const OFTEN = ["@hourly", "@daily", "0 9 * * mon-fri", "0 9 * * mon", "*/15 * * * *", "@monthly"];

export function WhenFields(props: Props) {
  switch (props.draft.kind) {
    case "cron":
      return <Cron {...props} />;
    case "interval":
      return <Every {...props} label="How often" />;
    case "once":
      return <Once {...props} />;
    default:
      return <Watch {...props} />;
  }
}

function Cron({ draft, onChange }: Props) {
  return (
    <Pair>
      <Input
        label="Cron expression"
        hint="Minute, hour, day, month, weekday; or @daily and the like"
        list="often"
        spellcheck={false}
        value={draft.cron}
        onInput={(event) => onChange({ cron: event.currentTarget.value })}
      />
      <Input
        label="Time zone"
        hint="Whose clocks are meant"
        list="zones"
        spellcheck={false}
        value={draft.zone}
        onInput={(event) => onChange({ zone: event.currentTarget.value })}
      />
      <datalist id="often">
        {OFTEN.map((cron) => (
          <option key={cron} value={cron} />
        ))}
      </datalist>
      <datalist id="zones">
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </Pair>
  );
}

function Every({ draft, onChange, label }: Props & { label: string }) {
  return (
    <Pair>
      <Input
        label={label}
        type="number"
        min={1}
        value={draft.many}
        onInput={(event) => onChange({ many: Number(event.currentTarget.value) })}
      />
      <Select
        label="Unit"
        value={String(draft.unit)}
        onChange={(event) => onChange({ unit: Number(event.currentTarget.value) })}
      >
        {UNITS.map(([seconds, name]) => (
          <option key={name} value={String(seconds)}>
            {name}
          </option>
        ))}
      </Select>
    </Pair>
  );
}

function Once({ draft, onChange }: Props) {
  return (
    <Input
      label="At"
      hint="By the clocks here"
      type="datetime-local"
      value={draft.at}
      onInput={(event) => onChange({ at: event.currentTarget.value })}
    />
  );
}

function Watch({ draft, onChange }: Props) {
  return (
    <>
      <Input
        label="This address answers"
        type="url"
        placeholder="https://"
        value={draft.url}
        disabled={draft.command !== ""}
        onInput={(event) => onChange({ url: event.currentTarget.value })}
      />
      <Input
        label="Or this command ends well"
        hint="Run in the workspace of the task below"
        spellcheck={false}
        value={draft.command}
        disabled={draft.url !== ""}
        onInput={(event) => onChange({ command: event.currentTarget.value })}
      />
      <Every {...{ draft, onChange }} label="Looked at every" />
    </>
  );
}
