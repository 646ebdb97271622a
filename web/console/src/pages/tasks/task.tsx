// One task as it was worked on: its thread read once, and seen in several ways.

import type { wire } from "@aster/client";
import { MessageSquare, Pencil, Trash2 } from "lucide-preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link, useLocation, useSearch } from "wouter-preact";
import { chatOf, taskOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";
import { type Loaded, useLoaded } from "../../lib/loaded.ts";
import { recent, refresh } from "../../lib/tasks.ts";
import { useTitle } from "../../lib/title.ts";
import { Back } from "../../ui/back.tsx";
import { Status } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { AgainView } from "./again-view.tsx";
import { Agents } from "./agents.tsx";
import { Artifacts } from "./artifacts.tsx";
import { Compare } from "./compare.tsx";
import { RemoveDialog, RenameDialog } from "./dialogs.tsx";
import { Events } from "./events.tsx";
import { Facts } from "./facts.tsx";
import { Recording } from "./recording.ts";
import { ReplayView } from "./replay-view.tsx";
import css from "./task.module.css";
import { TimelineView } from "./timeline-view.tsx";

const VIEWS = [
  ["", "Time-line"],
  ["replay", "Replay"],
  ["again", "Run again"],
  ["context", "Context"],
  ["artifacts", "Artifacts"],
  ["agents", "Sub-agents"],
  ["events", "Events"],
] as const;

export function TaskPage({ taskId, view }: { taskId: string; view: string }) {
  const recording = useMemo(() => new Recording(engine, taskId), [taskId]);
  const changed = recent.value.find((task) => task.task_id === taskId)?.updated_at;
  const detail = useLoaded(() => engine.task(taskId), [taskId, changed]);
  useEffect(() => () => recording.stop(), [recording]);
  useEffect(() => void recording.read(), [recording, changed]);
  const asked = new URLSearchParams(useSearch());
  const shown = asked.has("artifact") ? "artifacts" : asked.has("seq") && !view ? "replay" : view;
  useTitle(detail.value?.title || taskId);
  if (detail.value === null) {
    return (
      <div class={css.alone}>
        {detail.error ? <Problem {...detail} /> : <Loading label="Loading the task" />}
      </div>
    );
  }
  const tabs: Tab[] = VIEWS.map(([name, title]) => ({
    ...{ href: taskOf(taskId, name), title, current: name === shown },
  }));
  return (
    <div class={css.task}>
      <Head detail={detail} task={detail.value} recording={recording} />
      <Tabs label="Views of the task" tabs={tabs} />
      {recording.error.value ? (
        <Problem error={recording.error.value} again={() => void recording.read()} />
      ) : null}
      <div class={css.view}>
        <View name={shown} recording={recording} asked={asked} />
      </div>
    </div>
  );
}

/** The place on the thread that an address names. */
function placeIn(asked: URLSearchParams): number | null {
  const seq = Number.parseInt(asked.get("seq") ?? "", 10);
  return Number.isNaN(seq) ? null : seq;
}

function View({ name, recording, asked }: { name: string; recording: Recording; asked: URLSearchParams }) {
  const { taskId } = recording;
  switch (name) {
    case "replay":
      return <ReplayView recording={recording} seq={placeIn(asked)} />;
    case "again":
      return <AgainView recording={recording} seq={placeIn(asked)} replay={asked.get("replay")} />;
    case "context":
      return <Compare taskId={taskId} from={Number(asked.get("from"))} to={Number(asked.get("to"))} />;
    case "artifacts":
      return <Artifacts taskId={taskId} shown={asked.get("artifact")} />;
    case "agents":
      return <Agents taskId={taskId} />;
    case "events":
      return <Events recording={recording} />;
    default:
      return <TimelineView recording={recording} />;
  }
}

interface HeadProps {
  detail: Loaded<wire.TaskDetail>;
  task: wire.TaskDetail;
  recording: Recording;
}

function Head({ detail, task, recording }: HeadProps) {
  const [, navigate] = useLocation();
  const [doing, setDoing] = useState<"rename" | "remove" | null>(null);
  const leave = () => setDoing(null);
  return (
    <header class={css.head}>
      <div class={css.way}>
        <Back href="/tasks">All tasks</Back>
        {task.parent_task_id ? (
          <Link href={taskOf(task.parent_task_id)}>{`Begun by ${task.parent_task_id}`}</Link>
        ) : null}
        {task.from_task_id ? (
          <Link href={`${taskOf(task.from_task_id)}?seq=${task.from_seq ?? 0}`}>
            {`Forked from ${task.from_task_id} at ${task.from_seq ?? 0}`}
          </Link>
        ) : null}
      </div>
      <div class={css.line}>
        <h1>{task.title || "Untitled"}</h1>
        <Status value={task.status} />
        <div class={css.actions}>
          <Button size="s" onClick={() => navigate(chatOf(task.task_id))}>
            <MessageSquare size={14} /> Open in chat
          </Button>
          <IconButton size="s" label="Rename" onClick={() => setDoing("rename")}>
            <Pencil size={14} />
          </IconButton>
          <IconButton size="s" label="Delete" onClick={() => setDoing("remove")}>
            <Trash2 size={14} />
          </IconButton>
        </div>
      </div>
      <Facts recording={recording} whole={task.cost_usd} />
      {doing === "rename" ? (
        <RenameDialog
          task={task}
          onLeave={leave}
          onDone={() => {
            leave();
            detail.again();
            void refresh();
          }}
        />
      ) : null}
      {doing === "remove" ? (
        <RemoveDialog
          task={task}
          onLeave={leave}
          onDone={() => {
            void refresh();
            navigate("/tasks");
          }}
        />
      ) : null}
    </header>
  );
}
