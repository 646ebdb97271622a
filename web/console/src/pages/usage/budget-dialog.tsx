import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { recent } from "../../lib/tasks.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select } from "../../ui/field.tsx";
import { Problem } from "../../ui/page.tsx";
import { budgets, scopeName } from "./budget.ts";
import css from "./budgets.module.css";

interface Props {
  /** The one to change; null sets a new one. */
  budget: wire.Budget | null;
  onDone: () => void;
  onLeave: () => void;
}

export function BudgetDialog({ budget, onDone, onLeave }: Props) {
  const [scope, setScope] = useState(budget?.scope ?? "user");
  const [limit, setLimit] = useState(String(budget?.limit_usd ?? ""));
  const { sending, problem, send } = useSending();
  async function save() {
    if (await send(() => budgets.put(scope, Number(limit)))) onDone();
  }
  return (
    <Dialog
      title={budget ? `Change the budget: ${scopeName(budget.scope)}` : "Set a budget"}
      onLeave={onLeave}
    >
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {budget ? null : (
          <Select label="For" value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
            <option value="user">Each day</option>
            {recent.value.map(({ task_id, title }) => (
              <option key={task_id} value={`task:${task_id}`}>
                Task: {title || task_id}
              </option>
            ))}
          </Select>
        )}
        <Input
          label="Limit in US dollars"
          type="number"
          min={0}
          step="any"
          required
          autofocus
          value={limit}
          onInput={(event) => setLimit(event.currentTarget.value)}
          hint="Turns ask a person before they pass it."
        />
        {problem ? <Problem error={problem} /> : null}
        <div class={css.end}>
          <Button onClick={onLeave}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={sending || limit === "" || Number(limit) < 0}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
