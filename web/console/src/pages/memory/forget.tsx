// Forgetting: first everything that would go and which conversations say it too, then, by a button, for good.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import css from "./forget.module.css";
import { memory } from "./memory.ts";
import { StoreBadge } from "./store-badge.tsx";

const WHY: Record<wire.DoomedRecord["why"], string> = {
  asked: "this",
  derived: "derived from it",
  version: "an earlier version",
  relation: "a relation",
};

interface Props {
  what: wire.ForgetBody;
  onDone: () => void;
  onLeave: () => void;
}

export function ForgetDialog({ what, onDone, onLeave }: Props) {
  const doomed = useLoaded(() => memory.preview(what), []);
  const [tasks, setTasks] = useState(false);
  const { sending, problem, send } = useSending();
  async function forget() {
    if (await send(() => memory.forget({ ...what, delete_tasks: tasks }))) onDone();
  }
  const many = doomed.value?.records.length ?? 0;
  return (
    <Dialog title="Forget this?" onLeave={onLeave} wide>
      <div class={css.body}>
        {doomed.error ? <Problem error={doomed.error} again={doomed.again} /> : null}
        {doomed.value ? <Preview found={doomed.value} /> : doomed.error ? null : <Loading />}
        {doomed.value?.tasks.length ? (
          <label class={css.choice}>
            <input
              type="checkbox"
              checked={tasks}
              onChange={(event) => setTasks(event.currentTarget.checked)}
            />
            Delete {plural(doomed.value.tasks.length, "conversation")} too
          </label>
        ) : null}
        {problem ? <Problem error={problem} /> : null}
        <div class={css.buttons}>
          <Button onClick={onLeave}>Keep</Button>
          <Button kind="danger" disabled={sending || many === 0} onClick={() => void forget()}>
            {sending ? "Forgetting…" : `Forget ${plural(many, "memory", "memories")} for good`}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Preview({ found }: { found: wire.PreviewAnswer }) {
  return (
    <>
      <ul class={css.records} aria-label="What would be forgotten">
        {found.records.map((one) => (
          <li key={one.id}>
            <span class={css.text}>{one.text}</span>
            <span class={css.tags}>
              <StoreBadge store={one.store} />
              <Badge tone={one.why === "asked" ? "bad" : "plain"}>{WHY[one.why]}</Badge>
            </span>
          </li>
        ))}
      </ul>
      {found.tasks.length ? (
        <p class={css.note}>
          These conversations say it too, and keep saying it unless they are deleted:{" "}
          {found.tasks.map(({ task_id, why }) => (
            <span key={task_id} class={css.task}>
              <code>{task_id}</code> ({why === "source" ? "it came from there" : "it was used there"})
            </span>
          ))}
        </p>
      ) : null}
    </>
  );
}
