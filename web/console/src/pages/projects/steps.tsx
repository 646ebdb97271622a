// The steps of a project as a tree: what is done, what can be taken on next, and what came of it.

import { Check, Circle, CircleDashed, CircleDot, Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useLive } from "../../lib/live.ts";
import { beginning } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { STATES, type State, stateOf, workOf } from "../work/work.ts";
import { type Project, projects, type Step } from "./projects.ts";
import css from "./steps.module.css";

const MARKS: Record<State, typeof Check> = {
  completed: Check,
  in_progress: CircleDot,
  ready: Circle,
  blocked: CircleDashed,
  deleted: CircleDashed,
};

export function Steps({ project }: { project: Project }) {
  const loaded = useLive(() => projects.steps(project.project_id), [project.project_id]);
  const [adding, setAdding] = useState(false);
  const steps = loaded.value?.items ?? null;
  return (
    <>
      {loaded.error ? <Problem {...loaded} /> : null}
      {steps === null ? (
        loaded.error ? null : (
          <Loading label="Loading the steps" />
        )
      ) : steps.length === 0 ? (
        <Empty title="It has no steps yet">Add what is to be done, or let an agent take it apart.</Empty>
      ) : (
        <ol class={css.steps} aria-label="Steps">
          {steps.map((step) => (
            <Row key={step.item_id} step={step} />
          ))}
        </ol>
      )}
      {project.status === "ARCHIVED" ? null : (
        <div>
          <Button size="s" onClick={() => setAdding(true)}>
            <Plus size={13} aria-hidden="true" /> Add a step
          </Button>
        </div>
      )}
      {adding ? (
        <AddStep
          {...{ project, steps: steps ?? [] }}
          onLeave={() => setAdding(false)}
          onDone={() => {
            setAdding(false);
            loaded.again();
          }}
        />
      ) : null}
    </>
  );
}

function Row({ step }: { step: Step }) {
  const state = stateOf(step);
  const Mark = MARKS[state];
  const [words, tone] = STATES[state];
  return (
    <li class={`${css.step} ${css[state]}`} style={{ paddingLeft: `${16 + step.depth * 22}px` }}>
      <Mark size={15} aria-hidden="true" />
      <div class={css.text}>
        <Link href={workOf({ board: step.board, item: step.item_id })}>{step.subject}</Link>
        {step.result ? <p>{beginning(step.result, 240)}</p> : null}
      </div>
      <Badge tone={tone}>{words}</Badge>
    </li>
  );
}

interface AddProps {
  project: Project;
  steps: readonly Step[];
  onLeave: () => void;
  onDone: () => void;
}

function AddStep({ project, steps, onLeave, onDone }: AddProps) {
  const [subject, setSubject] = useState("");
  const [parent, setParent] = useState("");
  const open = steps.filter(({ status }) => status === "pending");
  return (
    <Dialog title="Add a step" onLeave={onLeave}>
      <Form
        submit="Add"
        ready={subject.trim() !== ""}
        onLeave={onLeave}
        send={() => projects.addStep(project.project_id, subject.trim(), parent || null).then(onDone)}
      >
        <Input
          label="What is to be done"
          required
          value={subject}
          onInput={(event) => setSubject(event.currentTarget.value)}
        />
        {open.length ? (
          <Select
            label="As a part of"
            value={parent}
            onChange={(event) => setParent(event.currentTarget.value)}
          >
            <option value="">the project itself</option>
            {open.map((step) => (
              <option key={step.item_id} value={step.item_id}>
                {step.subject}
              </option>
            ))}
          </Select>
        ) : null}
      </Form>
    </Dialog>
  );
}
