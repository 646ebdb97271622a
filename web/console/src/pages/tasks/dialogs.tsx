// The two things that are asked about before they are done to a task: another title, and its end.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input } from "../../ui/field.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./dialogs.module.css";

type Named = Pick<wire.Task, "task_id" | "title">;

interface Props<T> {
  task: Named;
  onLeave: () => void;
  onDone: (done: T) => void;
}

/** One request at a time, and what came of it when it failed. */
function useSending(): [boolean, unknown, (send: () => Promise<void>) => Promise<void>] {
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  async function run(send: () => Promise<void>) {
    setSending(true);
    setProblem(null);
    try {
      await send();
    } catch (error) {
      setProblem(error);
      setSending(false);
    }
  }
  return [sending, problem, run];
}

export function RenameDialog({ task, onLeave, onDone }: Props<wire.Task>) {
  const [title, setTitle] = useState(task.title);
  const [sending, problem, run] = useSending();
  return (
    <Dialog title="Rename the task" onLeave={onLeave}>
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void run(async () => onDone(await engine.rename(task.task_id, title.trim())));
        }}
      >
        <Input
          label="Title"
          value={title}
          autofocus
          maxLength={200}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        {problem ? <Problem error={problem} /> : null}
        <div class={css.buttons}>
          <Button kind="quiet" onClick={onLeave}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" disabled={sending || !title.trim()}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function RemoveDialog({ task, onLeave, onDone }: Props<void>) {
  const [sending, problem, run] = useSending();
  return (
    <Dialog title="Delete this task?" onLeave={onLeave}>
      <div class={css.form}>
        <p>
          <strong class={css.name}>{task.title || task.task_id}</strong> goes for good, with its thread, its
          artifacts and everything derived from it. This cannot be undone.
        </p>
        {problem ? <Problem error={problem} /> : null}
        <div class={css.buttons}>
          <Button kind="quiet" autofocus onClick={onLeave}>
            Keep it
          </Button>
          <Button
            kind="danger"
            disabled={sending}
            onClick={() =>
              void run(async () => {
                await engine.remove(task.task_id);
                onDone();
              })
            }
          >
            Delete
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
