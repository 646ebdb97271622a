import { Bot, SquareTerminal } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { useLive } from "../../lib/live.ts";
import { short } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Entry, EntryFacts, List } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { When } from "../../ui/when.tsx";
import { Kill } from "./kill.tsx";
import css from "./list.module.css";
import { lasted, live, type RuntimeTask, runningOf, runtime, STATUSES } from "./runtime.ts";

const SHOWN = [
  ["active", "Running"],
  ["", "All"],
] as const;
const KINDS = [
  ["", "Everything"],
  ["bash", "Commands"],
  ["agent", "Agents"],
] as const;
const PAGE = 50;

/** As many pages as somebody has asked for, read together. */
async function pages(status: string, kind: string, many: number) {
  const tasks: RuntimeTask[] = [];
  let after: string | null = null;
  for (let page = 0; page < many; page += 1) {
    const found = await runtime.list({ status: status || null, kind: kind || null, after });
    tasks.push(...found.tasks);
    after = found.next ?? null;
    if (after === null) break;
  }
  return { tasks, more: after !== null };
}

export function RunningList() {
  const [status, setStatus] = useState<"active" | "">("active");
  const [kind, setKind] = useState<"" | "bash" | "agent">("");
  const [many, setMany] = useState(1);
  const loaded = useLive(() => pages(status, kind, many), [status, kind, many]);
  const found = loaded.value;
  return (
    <Page
      title="Running"
      about="Commands and agents in the background, of all tasks. They outlive the turn that began them; here is what they say, and how to stop them."
    >
      <div class={css.filters}>
        <Segments label="How they stand" value={status} options={SHOWN} onChoose={setStatus} />
        <Segments label="What they are" value={kind} options={KINDS} onChoose={setKind} />
      </div>
      {loaded.error ? <Problem {...loaded} /> : null}
      {found === null ? (
        loaded.error ? null : (
          <Loading label="Loading what runs" />
        )
      ) : found.tasks.length === 0 ? (
        <Empty title={status ? "Nothing runs in the background" : "Nothing has run in the background yet"}>
          An agent begins a command with <code>run_in_background</code>, or an agent of its own.
        </Empty>
      ) : (
        <List label="In the background">
          {found.tasks.map((task) => (
            <Row key={task.id} task={task} again={loaded.again} />
          ))}
        </List>
      )}
      {found?.more ? (
        <Button class={css.more ?? ""} onClick={() => setMany(many + 1)}>{`Show ${PAGE} more`}</Button>
      ) : null}
    </Page>
  );
}

function Row({ task, again }: { task: RuntimeTask; again: () => void }) {
  const [words, tone] = STATUSES[task.status];
  const Icon = task.kind === "agent" ? Bot : SquareTerminal;
  return (
    <Entry
      name={task.description || task.id}
      href={runningOf(task.id)}
      badges={
        <>
          <Badge tone={tone}>{words}</Badge>
          {task.exit_code ? <Badge tone="bad">{`exit ${task.exit_code}`}</Badge> : null}
          {task.wake ? <Badge>wakes its task</Badge> : null}
        </>
      }
      actions={live(task) ? <Kill task={task} again={again} size="s" /> : null}
    >
      <EntryFacts>
        <span class={css.kind}>
          <Icon size={13} aria-hidden="true" /> {task.kind === "agent" ? (task.agent ?? "agent") : "command"}
        </span>
        <Link href={chatOf(task.task_id)}>{task.task_id}</Link>
        <span>
          begun <When iso={task.started_at} />
        </span>
        <span>{live(task) ? `for ${lasted(task)}` : `took ${lasted(task)}`}</span>
        {task.output_size ? <span>{`${short(task.output_size)} characters said`}</span> : null}
      </EntryFacts>
    </Entry>
  );
}
