// The goal of a task: what is to be true before a turn of it ends by itself. Seen above the conversation, set and cleared
// there.

import type { wire } from "@aster/client";
import { Target } from "lucide-preact";
import { useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { type Loaded, useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Textarea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./goal.module.css";

type Goal = wire.GoalAnswer;

const path = (taskId: string): string => `/tasks/${encodeURIComponent(taskId)}/goal`;

const OUTCOMES: Record<Goal["outcome"], readonly [words: string, tone: Tone]> = {
  active: ["not judged yet", "plain"],
  achieved: ["reached", "good"],
  failed: ["cannot be reached", "bad"],
  blocked: ["not reached yet", "info"],
  limit: ["not reached; sent on as often as may be", "warn"],
  error: ["could not be judged", "warn"],
  deferred: ["waits for work in the background", "info"],
};

/** The goal as it stands; asked for only when the thread speaks of one, since most tasks have none. */
export function useGoal(taskId: string, seq: number): Loaded<Goal | null> {
  return useLoaded(async () => {
    if (seq === 0) return null;
    try {
      return await engine.get<Goal>(path(taskId));
    } catch (error) {
      if ((error as { code?: string }).code === "NOT_FOUND") return null;
      throw error;
    }
  }, [taskId, seq]);
}

interface BarProps {
  taskId: string;
  goal: Goal;
  onChange: () => void;
  onEdit: () => void;
}

export function GoalBar({ taskId, goal, onChange, onEdit }: BarProps) {
  const { sending, problem, send } = useSending();
  const [words, tone] = OUTCOMES[goal.outcome];
  return (
    <section class={css.bar} aria-label="Goal">
      <Target size={15} aria-hidden="true" />
      <p class={css.goal} title={goal.reason ?? undefined}>
        {goal.goal}
      </p>
      <Badge tone={tone}>{words}</Badge>
      <Button size="s" kind="quiet" onClick={onEdit}>
        Change
      </Button>
      <Button
        size="s"
        kind="quiet"
        disabled={sending}
        onClick={() => void send(() => engine.transport.json("DELETE", path(taskId)).then(onChange))}
      >
        Clear
      </Button>
      {problem ? <Problem error={problem} /> : null}
    </section>
  );
}

interface DialogProps {
  taskId: string;
  goal: Goal | null;
  onLeave: () => void;
  onDone: () => void;
}

export function GoalDialog({ taskId, goal, onLeave, onDone }: DialogProps) {
  const [typed, setTyped] = useState(goal?.goal ?? "");
  return (
    <Dialog title="Goal of this task" onLeave={onLeave}>
      <Form
        submit="Set the goal"
        ready={typed.trim() !== ""}
        onLeave={onLeave}
        send={async () => {
          await engine.transport.json("PUT", path(taskId), { body: { goal: typed.trim() } });
          onDone();
        }}
      >
        <Textarea
          label="What is to be true when the work is done"
          hint="A turn that is about to end is sent on until somebody who only looks at the work finds this met, up to eight times."
          rows={4}
          maxLength={4000}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
