// Lists of things to do: the agent's own, and the plan a person agreed to.

import { Check, Circle, CircleDashed, CircleDot, CircleX } from "lucide-preact";
import type { Planned, Todos } from "../../thread/items.ts";
import type { Shown } from "./item-view.tsx";
import css from "./plans.module.css";

const MARKS = {
  completed: Check,
  in_progress: CircleDot,
  pending: Circle,
  failed: CircleX,
  skipped: CircleDashed,
};

function Step({ status, text }: { status: keyof typeof MARKS; text: string }) {
  const Mark = MARKS[status];
  return (
    <li class={`${css.step} ${css[status]}`}>
      <Mark size={15} aria-hidden="true" />
      <span>
        <span class="visually-hidden">{status.replace("_", " ")}: </span>
        {text}
      </span>
    </li>
  );
}

function Progress({ done, of }: { done: number; of: number }) {
  return (
    <>
      <span class={css.of}>{`${done} of ${of}`}</span>
      <progress class={css.bar} max={of} value={done} aria-label="Done" />
    </>
  );
}

export function TodoCard({ item }: Shown<Todos>) {
  const done = item.todos.filter((todo) => todo.status === "completed").length;
  return (
    <section class={css.list} aria-label="To do">
      <header>
        <h3>To do</h3>
        <Progress done={done} of={item.todos.length} />
      </header>
      <ul>
        {item.todos.map((todo, at) => (
          <Step key={at} status={todo.status} text={todo.content} />
        ))}
      </ul>
    </section>
  );
}

export function PlanCard({ item }: Shown<Planned>) {
  const { goal, steps } = item.plan;
  const done = steps.filter((step) => step.status === "completed").length;
  return (
    <section class={css.list} aria-label="Plan">
      <header>
        <h3>Plan</h3>
        <Progress done={done} of={steps.length} />
      </header>
      <p class={css.goal}>{goal}</p>
      <ul>
        {steps.map((step) => (
          <Step key={step.id} status={step.status ?? "pending"} text={step.text} />
        ))}
      </ul>
    </section>
  );
}
