// The two things that are asked about before they are done to a task: another title, and its end.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Input } from "../../ui/field.tsx";
import { Confirm, Form } from "../../ui/form.tsx";
import css from "./dialogs.module.css";

type Named = Pick<wire.Task, "task_id" | "title">;

interface Props<T> {
  task: Named;
  onLeave: () => void;
  onDone: (done: T) => void;
}

export function RenameDialog({ task, onLeave, onDone }: Props<wire.Task>) {
  const [title, setTitle] = useState(task.title);
  return (
    <Dialog title="Rename the task" onLeave={onLeave}>
      <Form
        submit="Rename"
        ready={title.trim() !== ""}
        onLeave={onLeave}
        send={async () => onDone(await engine.rename(task.task_id, title.trim()))}
      >
        <Input
          label="Title"
          value={title}
          autofocus
          maxLength={200}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}

export function RemoveDialog({ task, onLeave, onDone }: Props<void>) {
  return (
    <Confirm
      title="Delete this task?"
      submit="Delete"
      onLeave={onLeave}
      send={async () => {
        await engine.remove(task.task_id);
        onDone();
      }}
    >
      <strong class={css.name}>{task.title || task.task_id}</strong> goes for good, with its thread, its
      artifacts and everything derived from it. This cannot be undone.
    </Confirm>
  );
}
