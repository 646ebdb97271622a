// Making a project, or changing what it is about and how much it may use up.

import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Textarea } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { type Project, projects } from "./projects.ts";

interface Props {
  /** The one that is changed; without it, a new one is made. */
  project?: Project;
  onLeave: () => void;
  onDone: (project: Project) => void;
}

const number = (typed: string): number | null => (typed.trim() === "" ? null : Number(typed));
const shown = (value: number | null | undefined): string => (value == null ? "" : String(value));

export function ProjectDialog({ project, onLeave, onDone }: Props) {
  const [title, setTitle] = useState(project?.title ?? "");
  const [brief, setBrief] = useState(project?.brief ?? "");
  const [notes, setNotes] = useState(project?.notes ?? "");
  const [budget, setBudget] = useState({
    steps: shown(project?.budget.steps),
    tool_calls: shown(project?.budget.tool_calls),
    seconds: shown(project?.budget.seconds),
    usd: shown(project?.budget.usd),
  });
  const body = {
    ...{ title: title.trim(), brief, notes },
    budget: {
      ...{ steps: number(budget.steps), tool_calls: number(budget.tool_calls) },
      ...{ seconds: number(budget.seconds), usd: number(budget.usd) },
    },
  };
  const send = async () =>
    onDone(
      await (project
        ? projects.edit(project.project_id, { ...body, version: project.version })
        : projects.create(body)),
    );
  const most = (name: keyof typeof budget, label: string) => (
    <Input
      label={label}
      type="number"
      min={0}
      step="any"
      value={budget[name]}
      onInput={(event) => setBudget({ ...budget, [name]: event.currentTarget.value })}
    />
  );
  return (
    <Dialog title={project ? "Change the project" : "New project"} onLeave={onLeave}>
      <Form submit={project ? "Save" : "Make it"} ready={body.title !== ""} send={send} onLeave={onLeave}>
        <Input
          label="Title"
          required
          maxLength={200}
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        <Textarea
          label="What it is about"
          hint="Every turn that works for it reads this"
          rows={4}
          value={brief}
          onInput={(event) => setBrief(event.currentTarget.value)}
        />
        <Textarea
          label="Notes"
          rows={2}
          value={notes}
          onInput={(event) => setNotes(event.currentTarget.value)}
        />
        <p>At most (empty: no bound)</p>
        <Pair>
          {most("steps", "Steps")}
          {most("tool_calls", "Tool calls")}
          {most("seconds", "Seconds of work")}
          {most("usd", "US dollars")}
        </Pair>
      </Form>
    </Dialog>
  );
}
