// Tasks as rows, each with what can be done to it. A row says what the task is about, how it stands and what it cost.

import type { wire } from "@aster/client";
import { GitFork, MessageSquare, Pencil, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { chatOf, taskOf } from "../../lib/addresses.ts";
import { ago, exactly, money } from "../../lib/words.ts";
import { Status } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { RemoveDialog, RenameDialog } from "./dialogs.tsx";
import css from "./table.module.css";

interface Props {
  tasks: wire.ListedTask[];
  onRenamed: (task: wire.Task) => void;
  onRemoved: (taskId: string) => void;
}

type Doing = { what: "rename" | "remove"; task: wire.Task } | null;

export function TaskTable({ tasks, onRenamed, onRemoved }: Props) {
  const [doing, setDoing] = useState<Doing>(null);
  const leave = () => setDoing(null);
  return (
    <div class={css.frame}>
      <table class={css.table}>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Status</th>
            <th scope="col" class={css.number}>
              Cost
            </th>
            <th scope="col">Changed</th>
            <th scope="col">
              <span class="visually-hidden">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <Row key={task.task_id} task={task} onDo={setDoing} />
          ))}
        </tbody>
      </table>
      {doing?.what === "rename" ? (
        <RenameDialog
          task={doing.task}
          onLeave={leave}
          onDone={(task) => {
            leave();
            onRenamed(task);
          }}
        />
      ) : null}
      {doing?.what === "remove" ? (
        <RemoveDialog
          task={doing.task}
          onLeave={leave}
          onDone={() => {
            leave();
            onRemoved(doing.task.task_id);
          }}
        />
      ) : null}
    </div>
  );
}

interface RowProps {
  task: wire.ListedTask;
  onDo: (doing: Doing) => void;
}

function Row({ task, onDo }: RowProps) {
  const [, navigate] = useLocation();
  return (
    <tr>
      <td class={css.about}>
        <Link href={taskOf(task.task_id)} class={css.title}>
          {task.title || "Untitled"}
        </Link>
        <span class={css.id}>{task.task_id}</span>
        {task.from_task_id ? (
          <Link
            class={css.origin}
            href={taskOf(task.from_task_id)}
            title={`Forked from ${task.from_task_id}`}
          >
            <GitFork size={11} aria-hidden="true" /> fork
          </Link>
        ) : null}
      </td>
      <td class={css.status}>
        <Status value={task.status} />
      </td>
      <td class={css.number}>{money(task.cost_usd)}</td>
      <td class={css.when}>
        <time dateTime={task.updated_at} title={exactly(task.updated_at)}>
          {ago(task.updated_at)}
        </time>
      </td>
      <td class={css.actions}>
        <IconButton size="s" label="Open in chat" onClick={() => navigate(chatOf(task.task_id))}>
          <MessageSquare size={14} />
        </IconButton>
        <IconButton size="s" label="Rename" onClick={() => onDo({ what: "rename", task })}>
          <Pencil size={14} />
        </IconButton>
        <IconButton size="s" label="Delete" onClick={() => onDo({ what: "remove", task })}>
          <Trash2 size={14} />
        </IconButton>
      </td>
    </tr>
  );
}
