// One thing that runs in the background: how it stands, and what it says while it says it.

import { useEffect, useMemo } from "preact/hooks";
import { Link } from "wouter-preact";
import { chatOf, taskOf } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { exactly, short } from "../../lib/words.ts";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Card, Loading, Page, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { Kill } from "./kill.tsx";
import { Output } from "./output.ts";
import { lasted, live, type RuntimeTask, runtime, STATUSES } from "./runtime.ts";
import { Terminal } from "./terminal.tsx";
import css from "./view.module.css";

/** What it says, from the beginning, as long as this is looked at. */
function useOutput(id: string): Output {
  const output = useMemo(() => new Output(id), [id]);
  useEffect(() => {
    void output.follow();
    return () => output.stop();
  }, [output]);
  return output;
}

export function RunningView({ id }: { id: string }) {
  const output = useOutput(id);
  const loaded = useLoaded(() => runtime.found(id), [id, output.state.value]);
  const task = output.task.value ?? loaded.value;
  if (task === null) {
    return (
      <Page title="In the background">
        <Back href="/running">Everything that runs</Back>
        {loaded.error ? <Problem {...loaded} /> : <Loading label="Loading how it stands" />}
      </Page>
    );
  }
  const [words, tone] = STATUSES[task.status];
  return (
    <Page
      title={task.kind === "agent" ? (task.agent ?? "An agent") : "A command"}
      about={<span class={css.command}>{task.description || task.id}</span>}
      actions={live(task) ? <Kill task={task} again={loaded.again} size="m" /> : null}
    >
      <Back href="/running">Everything that runs</Back>
      <p class={css.badges} role="status">
        <Badge tone={tone}>{words}</Badge>
        {output.state.value === "lost" ? <Badge tone="warn">reconnecting</Badge> : null}
      </p>
      {task.status === "stalled" ? (
        <p class={css.stalled}>
          It has been silent for a while, and the last it said looks like a question. Nobody can answer it
          here: kill it, or let its agent run it again with an answer.
        </p>
      ) : null}
      <About task={task} />
      {output.error.value ? <Problem error={output.error.value} again={() => void output.follow()} /> : null}
      <Card title="What it says">
        <Terminal
          text={output.text.value}
          live={live(task)}
          nothing={
            task.kind === "agent" ? "What it does is on its own thread; its last words appear here." : null
          }
        />
      </Card>
    </Page>
  );
}

function About({ task }: { task: RuntimeTask }) {
  return (
    <Facts
      facts={[
        [
          "Task",
          <Link key="task" href={chatOf(task.task_id)}>
            {task.task_id}
          </Link>,
        ],
        task.child_task_id
          ? [
              "Its own thread",
              <Link key="child" href={taskOf(task.child_task_id)}>
                {task.child_task_id}
              </Link>,
            ]
          : ["Its own thread", null],
        ["Begun", exactly(task.started_at)],
        [live(task) ? "For" : "Took", lasted(task)],
        ["Exit code", task.exit_code],
        ["Said", task.output_size ? `${short(task.output_size)} characters` : null],
        ["Silent since", task.stalled_since ? <When key="silent" iso={task.stalled_since} /> : null],
        ["The model was told", live(task) ? null : task.notified ? "yes" : "not yet"],
        ["Wakes its task", task.wake ? "yes" : null],
      ]}
    />
  );
}
