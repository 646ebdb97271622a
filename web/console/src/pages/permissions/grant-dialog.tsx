import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { recent } from "../../lib/tasks.ts";
import { BEHAVIORS, type Behavior } from "../../ui/decision.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { Segments } from "../../ui/segments.tsx";
import { grant, type Proposal } from "./routes.ts";
import { ToolField } from "./tool-field.tsx";
import { LIFETIMES } from "./words.ts";

type Scope = NonNullable<wire.GrantBody["scope"]>;

interface Props {
  proposal: Proposal;
  tools: wire.ToolEntry[];
  onLeave: () => void;
  onDone: () => void;
}

/** Allow, ask or refuse calls to come. */
export function GrantDialog({ proposal, tools, onLeave, onDone }: Props) {
  const [behavior, setBehavior] = useState<Behavior>(proposal.behavior ?? "allow");
  const [tool, setTool] = useState(proposal.tool);
  const [pattern, setPattern] = useState(proposal.pattern ?? "*");
  const [scope, setScope] = useState<Scope>(proposal.task_id ? "task" : "everywhere");
  const [taskId, setTaskId] = useState(proposal.task_id ?? "");
  const [agent, setAgent] = useState("main");
  const [lifetime, setLifetime] = useState(0);
  async function send() {
    await grant({
      tool: tool.trim(),
      pattern: pattern.trim() || "*",
      behavior,
      scope,
      ...(scope === "task" && { task_id: taskId.trim() }),
      ...(scope === "agent" && { agent: agent.trim() }),
      ...(lifetime && { expires_in_seconds: lifetime }),
    });
    onDone();
  }
  return (
    <Dialog title="Add a grant" onLeave={onLeave}>
      <Form
        submit="Add the grant"
        onLeave={onLeave}
        ready={Boolean(tool.trim() && (scope !== "task" || taskId.trim()))}
        send={send}
      >
        <Segments label="What happens" value={behavior} options={BEHAVIORS} onChoose={setBehavior} />
        <ToolField
          tools={tools}
          value={tool}
          onChange={setTool}
          autofocus
          hint="A name, or a pattern: github.*"
        />
        <Input
          label="Calls that look like"
          value={pattern}
          hint="A pattern over the command, the path, the address or the whole input; * is every call. To allow, it has to fit one plain command."
          onInput={(event) => setPattern(event.currentTarget.value)}
        />
        <Pair>
          <Select
            label="Holds"
            value={scope}
            onChange={(event) => setScope(event.currentTarget.value as Scope)}
          >
            <option value="everywhere">Everywhere</option>
            <option value="task">In one task</option>
            <option value="agent">For one agent</option>
          </Select>
          <Select
            label="For how long"
            value={String(lifetime)}
            onChange={(event) => setLifetime(Number(event.currentTarget.value))}
          >
            {LIFETIMES.map(([seconds, words]) => (
              <option key={seconds} value={seconds}>
                {words}
              </option>
            ))}
          </Select>
        </Pair>
        {scope === "task" ? <TaskField value={taskId} onChange={setTaskId} /> : null}
        {scope === "agent" ? (
          <Input
            label="Agent"
            value={agent}
            hint="main is the usual one; of a sub-agent: main/coder."
            onInput={(event) => setAgent(event.currentTarget.value)}
          />
        ) : null}
      </Form>
    </Dialog>
  );
}

function TaskField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const known = recent.value.some((task) => task.task_id === value);
  return (
    <Select label="Task" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">Choose a task</option>
      {value && !known ? <option value={value}>{value}</option> : null}
      {recent.value.map((task) => (
        <option key={task.task_id} value={task.task_id}>
          {task.title || task.task_id}
        </option>
      ))}
    </Select>
  );
}
