// Budgets: what may be spent in a day and by a task, what is spent of it, and setting, changing and dropping one.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { exactly, money } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { budgets, scopeName, share } from "./budget.ts";
import { BudgetDialog } from "./budget-dialog.tsx";
import css from "./budgets.module.css";

const NEAR = 0.8;

export function Budgets() {
  const kept = useLoaded(budgets.list, []);
  const [setting, setSetting] = useState<wire.Budget | "new" | null>(null);
  const { problem, send } = useSending();
  async function drop(scope: string) {
    if (await send(() => budgets.drop(scope))) kept.again();
  }
  return (
    <Card
      title="Budgets"
      actions={
        <Button size="s" onClick={() => setSetting("new")}>
          Set a budget
        </Button>
      }
    >
      {kept.error ? <Problem error={kept.error} again={kept.again} /> : null}
      {problem ? <Problem error={problem} /> : null}
      {kept.value ? (
        <>
          <List list={kept.value} onChange={setSetting} onDrop={(scope) => void drop(scope)} />
          <Defaults list={kept.value} />
        </>
      ) : kept.error ? null : (
        <Loading />
      )}
      {setting ? (
        <BudgetDialog
          budget={setting === "new" ? null : setting}
          onLeave={() => setSetting(null)}
          onDone={() => {
            setSetting(null);
            kept.again();
          }}
        />
      ) : null}
    </Card>
  );
}

interface ListProps {
  list: wire.BudgetList;
  onChange: (budget: wire.Budget) => void;
  onDrop: (scope: string) => void;
}

function List({ list, onChange, onDrop }: ListProps) {
  if (list.budgets.length === 0)
    return (
      <Empty title="No budget is set">
        A budget makes a turn ask before it goes on, and ends it when the limit is reached.
      </Empty>
    );
  return (
    <ul class={css.budgets} aria-label="Budgets">
      {list.budgets.map((budget) => (
        <li key={`${budget.owner} ${budget.scope}`}>
          <div class={css.about}>
            <strong class={css.scope}>{scopeName(budget.scope)}</strong>
            <Badge>{budget.updated_at === null ? "from the settings" : `set by the ${budget.owner}`}</Badge>
            <span class={css.spent}>
              {money(budget.spent_usd)} of {budget.limit_usd === null ? "no limit" : money(budget.limit_usd)}
            </span>
          </div>
          <Meter label="Spent" value={share(budget)} tone={tone(share(budget))} />
          {budget.updated_at === null ? null : (
            <div class={css.buttons}>
              <Button size="s" onClick={() => onChange(budget)}>
                Change
              </Button>
              <Button size="s" kind="danger" onClick={() => onDrop(budget.scope)}>
                Drop
              </Button>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

const tone = (part: number) => (part >= 1 ? "bad" : part >= NEAR ? "warn" : "good");

function Defaults({ list: { defaults, resets_at } }: { list: wire.BudgetList }) {
  const given: [string, number | null][] = [
    ["a day", defaults.user_day_usd],
    ["a task", defaults.task_usd],
    ["a turn", defaults.turn_usd],
  ];
  const set = given.filter(([, limit]) => limit !== null);
  return (
    <p class={css.faint}>
      {set.length
        ? `The settings give everybody ${set.map(([name, limit]) => `${money(limit)} ${name}`).join(", ")}.`
        : "The settings give nobody a limit."}{" "}
      The day is over at {exactly(resets_at)}.
    </p>
  );
}
