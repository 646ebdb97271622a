// Workflows: those the operator has registered, and runs of them, newest first.

import type { wire } from "@aster/client";
import { Play } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { useLive } from "../../lib/live.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { money, plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Textarea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Entry, List, Section } from "../../ui/list.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import { argsIn, exampleOf, RUNS, type Run, runOf, workflows } from "./runs.ts";

export function Workflows() {
  const registered = useLoaded(workflows.list, []);
  const runs = useLive(workflows.runs, []);
  const [chosen, setChosen] = useState<wire.WorkflowEntry | null>(null);
  const [, navigate] = useLocation();
  return (
    <>
      <Section title="Workflows" about="Work of many agents whose course is known beforehand.">
        <Registered loaded={registered} onRun={setChosen} />
      </Section>
      <Section title="Runs">
        {runs.error ? <Problem {...runs} /> : null}
        {runs.value === null ? (
          runs.error ? null : (
            <Loading label="Loading the runs" />
          )
        ) : runs.value.runs.length === 0 ? (
          <Empty title="Nothing has been run yet" />
        ) : (
          <Runs runs={runs.value.runs} />
        )}
      </Section>
      {chosen ? (
        <RunDialog
          workflow={chosen}
          onLeave={() => setChosen(null)}
          onDone={(run) => navigate(runOf(run.run_id))}
        />
      ) : null}
    </>
  );
}

interface RegisteredProps {
  loaded: ReturnType<typeof useLoaded<wire.WorkflowList>>;
  onRun: (workflow: wire.WorkflowEntry) => void;
}

function Registered({ loaded, onRun }: RegisteredProps) {
  if (loaded.value === null)
    return loaded.error ? <Problem {...loaded} /> : <Loading label="Loading workflows" />;
  if (loaded.value.workflows.length === 0) {
    return (
      <Empty title="No workflow is registered">
        An operator writes one down as <code>workflows/NAME.json</code> in the catalog folder.
      </Empty>
    );
  }
  return (
    <List label="Workflows">
      {loaded.value.workflows.map((workflow) => (
        <Entry
          key={workflow.name}
          name={workflow.name}
          about={workflow.description}
          badges={
            <>
              {workflow.max_agents ? (
                <Badge>{`at most ${plural(workflow.max_agents, "agent")}`}</Badge>
              ) : null}
              {workflow.max_usd ? <Badge>{`at most ${money(workflow.max_usd)}`}</Badge> : null}
            </>
          }
          actions={
            <Button size="s" onClick={() => onRun(workflow)}>
              <Play size={13} aria-hidden="true" /> Run
            </Button>
          }
        />
      ))}
    </List>
  );
}

function Runs({ runs }: { runs: Run[] }) {
  return (
    <Table label="Runs" head={["Workflow", "How it stands", "Phase", "#Agents", "#Cost", "#Begun"]}>
      {runs.map((run) => (
        <tr key={run.run_id}>
          <td>
            <Link href={runOf(run.run_id)}>{run.workflow}</Link>
          </td>
          <td>
            <Badge tone={RUNS[run.status]}>{run.status}</Badge>
          </td>
          <td>{run.phase || "–"}</td>
          <Figure>{run.agents}</Figure>
          <Figure>{money(run.cost_usd)}</Figure>
          <Figure>
            <When iso={run.created_at} />
          </Figure>
        </tr>
      ))}
    </Table>
  );
}

interface DialogProps {
  workflow: wire.WorkflowEntry;
  onLeave: () => void;
  onDone: (run: Run) => void;
}

function RunDialog({ workflow, onLeave, onDone }: DialogProps) {
  const [typed, setTyped] = useState(() => exampleOf(workflow.args));
  const { args, problem } = argsIn(typed);
  return (
    <Dialog title={`Run ${workflow.name}`} onLeave={onLeave}>
      <Form
        submit="Run"
        ready={args !== null}
        onLeave={onLeave}
        send={async () => onDone(await workflows.run(workflow.name, args ?? {}))}
      >
        {workflow.description ? <p>{workflow.description}</p> : null}
        <Textarea
          label="Arguments"
          hint="What it is to work on, as JSON"
          rows={8}
          error={problem}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
