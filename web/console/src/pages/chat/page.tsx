// The chat: one task, followed as long as it is looked at.

import { History, ListTree, Target } from "lucide-preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link, useLocation, useRoute, useSearchParams } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";
import { recent, refresh } from "../../lib/tasks.ts";
import { useTitle } from "../../lib/title.ts";
import { Follower } from "../../thread/follower.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import type { Attachment } from "./attachments.ts";
import { Composer } from "./composer.tsx";
import { GoalBar, GoalDialog, useGoal } from "./goal.tsx";
import type { Doing } from "./item-view.tsx";
import { Log } from "./log.tsx";
import type { Busy } from "./modes.tsx";
import css from "./page.module.css";
import { Welcome } from "./welcome.tsx";

/** Whether a turn runs or waits; what reads it is drawn again when that changes. */
const running = ({ phase, thread }: Follower): boolean => phase.value !== null && thread.running;

const place = (taskId: string, agent: string | null = null) =>
  `/chat/${encodeURIComponent(taskId)}${agent ? `?agent=${encodeURIComponent(agent)}` : ""}`;

export default function ChatPage() {
  const [, params] = useRoute("/chat/:task");
  const fresh = useMemo(() => `chat-${crypto.randomUUID()}`, [params?.task === undefined]);
  const taskId = params?.task ? decodeURIComponent(params.task) : fresh;
  return <Chat key={taskId} taskId={taskId} named={params?.task !== undefined} />;
}

/** The follower of a task; it looks again whenever the task has changed elsewhere. */
function useFollower(taskId: string, named: boolean): Follower {
  const follower = useMemo(() => new Follower(engine, taskId), [taskId]);
  useEffect(() => {
    if (named) void follower.follow();
    return () => follower.stop();
  }, [follower]);
  const phase = follower.phase.value;
  useEffect(() => {
    if (phase !== null) void refresh();
  }, [phase]);
  const known = recent.value.find((task) => task.task_id === taskId);
  useEffect(() => {
    if (known && follower.state.value === "idle") void follower.follow();
  }, [known?.status, known?.updated_at]);
  return follower;
}

function Chat({ taskId, named }: { taskId: string; named: boolean }) {
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<unknown>(null);
  const [aiming, setAiming] = useState(false);
  const [query] = useSearchParams();
  const agent = query.get("agent");
  const answering = agent ? { agent } : {};
  const follower = useFollower(taskId, named);
  const { thread } = follower;
  const title = recent.value.find((task) => task.task_id === taskId)?.title || thread.title || "New chat";
  useTitle(title);

  async function send(message: string, media: Attachment[], busy: Busy) {
    const parts = media.map((one) => one.part);
    await follower.send({ message, on_busy: busy, ...(parts.length && { media: parts }), ...answering });
    setProblem(null);
    if (!named) navigate(place(taskId, agent), { replace: true });
    void refresh();
  }
  /** What is not sent from the field has its refusal shown above it. */
  function attempt(work: Promise<unknown>) {
    setProblem(null);
    void work.then(() => refresh(), setProblem);
  }
  const doing = useMemo<Doing>(
    () => ({
      edit: (id, message) =>
        attempt(follower.send({ message, edit_message_id: id, on_busy: "interrupt", ...answering })),
      retry: (id) =>
        attempt(follower.send({ message: "", retry_message_id: id, on_busy: "interrupt", ...answering })),
      fork: (seq) => attempt(engine.fork(taskId, { seq }).then((made) => navigate(place(made.task_id)))),
    }),
    [follower, agent],
  );
  return (
    <div class={css.chat}>
      <Head {...{ follower, title, agent }} task={named ? taskId : null} onAim={() => setAiming(true)} />
      {named ? <Aim follower={follower} open={aiming} onOpen={setAiming} /> : null}
      {follower.error.value ? (
        <Problem error={follower.error.value} again={() => void follower.follow()} />
      ) : null}
      {problem ? <Problem error={problem} /> : null}
      <Body
        follower={follower}
        named={named}
        doing={doing}
        ask={(text) => attempt(send(text, [], "queue"))}
      />
      <Composer
        draft={named ? taskId : "new"}
        running={running(follower)}
        waits={follower.phase.value === "suspended"}
        send={send}
        stop={() => attempt(engine.cancel({ task_id: taskId }))}
      />
    </div>
  );
}

interface HeadProps {
  follower: Follower;
  title: string;
  agent: string | null;
  /** The task, once there is one. */
  task: string | null;
  onAim: () => void;
}

function Head({ follower, title, agent, task, onAim }: HeadProps) {
  const phase = follower.phase.value;
  const works = phase === "suspended" ? "waits for you" : "working";
  const state = running(follower) ? works : "";
  return (
    <header class={css.head}>
      <h1>{title}</h1>
      {agent ? <Badge tone="accent">with {agent}</Badge> : null}
      {follower.state.value === "lost" ? <Badge tone="warn">reconnecting</Badge> : null}
      {state ? <Badge tone={phase === "suspended" ? "warn" : "info"}>{state}</Badge> : null}
      <span class="visually-hidden" role="status">
        {state || (phase ? "finished" : "")}
      </span>
      {task === null ? null : (
        <nav class={css.views} aria-label="Other views of this task">
          <button type="button" title="What is to be true before a turn ends by itself" onClick={onAim}>
            <Target size={15} aria-hidden="true" /> <span>Goal</span>
          </button>
          <Link href={taskOf(task)} title="Every step with its time, tokens and cost">
            <ListTree size={15} aria-hidden="true" /> <span>Time-line</span>
          </Link>
          <Link
            href={taskOf(task, "replay")}
            title="The conversation as it was at any point; fork from there"
          >
            <History size={15} aria-hidden="true" /> <span>Replay</span>
          </Link>
        </nav>
      )}
    </header>
  );
}

interface AimProps {
  follower: Follower;
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** The goal of the task, and the dialog that sets it. */
function Aim({ follower, open, onOpen }: AimProps) {
  const { taskId, thread, version } = follower;
  const goal = useGoal(taskId, version.value >= 0 ? thread.goalSeq : 0);
  const changed = () => {
    onOpen(false);
    goal.again();
    void follower.follow();
  };
  return (
    <>
      {goal.error ? <Problem {...goal} /> : null}
      {goal.value ? (
        <GoalBar taskId={taskId} goal={goal.value} onChange={changed} onEdit={() => onOpen(true)} />
      ) : null}
      {open ? (
        <GoalDialog {...{ taskId, goal: goal.value, onDone: changed }} onLeave={() => onOpen(false)} />
      ) : null}
    </>
  );
}

interface BodyProps {
  follower: Follower;
  named: boolean;
  doing: Doing;
  ask: (text: string) => void;
}

function Body({ follower, named, doing, ask }: BodyProps) {
  const { thread, state, version } = follower;
  const empty = version.value >= 0 && thread.items.length === 0 && thread.waiting.size === 0;
  if (!empty) return <Log follower={follower} doing={doing} />;
  if (!named) return <Welcome ask={ask} />;
  return (
    <div class={css.nothing}>
      {state.value === "idle" ? (
        <Empty title="Nothing has been said here yet">
          This task is empty, or there is no task of this name.
        </Empty>
      ) : (
        <Loading />
      )}
    </div>
  );
}
