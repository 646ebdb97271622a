// The working memory of a task: what was noted while it worked, until it ends by itself.

import { Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { recent } from "../../lib/tasks.ts";
import { ago, exactly } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import entries from "./entry.module.css";
import { ForgetDialog } from "./forget.tsx";
import lists from "./list.module.css";
import { memory, placeOf } from "./memory.ts";

export function Working() {
  const [params, setParams] = useSearchParams();
  const tasks = recent.value.map(({ task_id, title }) => [task_id, title || "Untitled"] as const);
  const chosen = params.get("task") ?? tasks[0]?.[0] ?? "";
  const known = tasks.some(([id]) => id === chosen);
  return (
    <div class={lists.stack}>
      <Select
        label="Task"
        value={chosen}
        onChange={(event) => setParams({ task: event.currentTarget.value }, { replace: true })}
      >
        {known || !chosen ? null : <option value={chosen}>{chosen}</option>}
        {tasks.map(([id, title]) => (
          <option key={id} value={id}>
            {title} ({id})
          </option>
        ))}
      </Select>
      {chosen ? <Notes key={chosen} taskId={chosen} /> : <Empty title="There is no task yet" />}
    </div>
  );
}

function Notes({ taskId }: { taskId: string }) {
  const notes = useLoaded(() => memory.working(taskId), [taskId]);
  const [doomed, setDoomed] = useState<string | null>(null);
  if (notes.error) return <Problem error={notes.error} again={notes.again} />;
  if (notes.value === null) return <Loading />;
  if (notes.value.entries.length === 0)
    return (
      <Empty title="Nothing is noted">Notes the agent makes in this task appear here while they last.</Empty>
    );
  return (
    <>
      <ul class={lists.list} aria-label="Notes">
        {notes.value.entries.map((note) => (
          <li key={note.id} class={entries.entry}>
            <div class={entries.said}>
              <p class={lists.plain}>{note.text}</p>
              <p class={entries.about}>
                <Badge>{note.type}</Badge>
                <time dateTime={note.created_at} title={exactly(note.created_at)}>
                  {ago(note.created_at)}
                </time>
                <Link href={placeOf(taskId, note.first_seq)}>where it was noted</Link>
                <span>{note.expires_at ? `until ${exactly(note.expires_at)}` : "for a week"}</span>
              </p>
            </div>
            <IconButton size="s" label="Forget this note" onClick={() => setDoomed(note.id)}>
              <Trash2 size={14} />
            </IconButton>
          </li>
        ))}
      </ul>
      {doomed ? (
        <ForgetDialog
          what={{ ids: [doomed] }}
          onLeave={() => setDoomed(null)}
          onDone={() => {
            setDoomed(null);
            notes.again();
          }}
        />
      ) : null}
    </>
  );
}
