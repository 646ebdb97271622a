// What an item waits for, chosen from what is open on its board.

import { X } from "lucide-preact";
import { IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import css from "./chooser.module.css";
import { useChoice } from "./columns.ts";

interface Props {
  board: string;
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}

export function Chooser({ board, chosen, onChange }: Props) {
  const choice = useChoice(board).value ?? [];
  const left = choice.filter((item) => !chosen.includes(item.item_id));
  const named = (id: string) => choice.find((item) => item.item_id === id)?.subject ?? id;
  if (choice.length === 0) return null;
  return (
    <div class={css.chooser}>
      <Select
        label="Waits for"
        value=""
        onChange={(event) => event.currentTarget.value && onChange([...chosen, event.currentTarget.value])}
      >
        <option value="">{left.length ? "Choose what has to be done first" : "Nothing else is open"}</option>
        {left.map((item) => (
          <option key={item.item_id} value={item.item_id}>
            {item.subject}
          </option>
        ))}
      </Select>
      {chosen.length ? (
        <ul class={css.chosen} aria-label="Waits for">
          {chosen.map((id) => (
            <li key={id}>
              <span>{named(id)}</span>
              <IconButton
                size="s"
                label={`Do not wait for ${named(id)}`}
                onClick={() => onChange(chosen.filter((other) => other !== id))}
              >
                <X size={13} />
              </IconButton>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
