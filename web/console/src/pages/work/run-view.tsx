// One run of a workflow: its phases with the agents in them, what came of it, and going on with it or stopping it.

import { Play, Square } from "lucide-preact";
import { Link } from "wouter-preact";
import { chatOf, taskOf } from "../../lib/addresses.ts";
import { useLive } from "../../lib/live.ts";
import { useSending } from "../../lib/sending.ts";
import { money, plural, short } from "../../lib/words.ts";
import { Code } from "../../markdown/code.tsx";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import css from "./run-view.module.css";
import { CALLS, type Call, phases, RUNS, type Run, workflows } from "./runs.ts";

const json = (value: unknown): string => JSON.stringify(value, null, 2);

export function RunView({ id }: { id: string }) {
  const loaded = useLive(() => workflows.found(id), [id]);
  const run = loaded.value;
  return (
    <>
      <Back href="/work/workflows">All runs</Back>
      {loaded.error ? <Problem {...loaded} /> : null}
      {run === null ? (
        loaded.error ? null : (
          <Loading label="Loading the run" />
        )
      ) : (
        <>
          <Head run={run} again={loaded.again} />
          <Phases run={run} />
          {run.result === undefined || run.result === null ? null : (
            <Card title="Result">
              <Code text={json(run.result)} language="json" />
            </Card>
          )}
          <Card title="Arguments">
            <Code text={json(run.args)} language="json" />
          </Card>
        </>
      )}
    </>
  );
}

function Head({ run, again }: { run: Run; again: () => void }) {
  const { sending, problem, send } = useSending();
  const act = (work: typeof workflows.resume) => void send(() => work(run.run_id).then(again));
  return (
    <section class={css.head} aria-label="The run">
      <div class={css.line}>
        <h2>{run.workflow}</h2>
        <Badge tone={RUNS[run.status]}>{run.status}</Badge>
        <span class={css.buttons}>
          {run.status === "running" ? (
            <Button size="s" disabled={sending} onClick={() => act(workflows.cancel)}>
              <Square size={12} aria-hidden="true" /> Cancel
            </Button>
          ) : run.status === "completed" ? null : (
            <Button size="s" kind="primary" disabled={sending} onClick={() => act(workflows.resume)}>
              <Play size={13} aria-hidden="true" /> Resume
            </Button>
          )}
        </span>
      </div>
      <Facts
        facts={[
          ["Agents", plural(run.agents, "agent")],
          ["Not asked again", run.cached || null],
          ["Taken up", `${run.attempts}×`],
          ["Tokens", run.tokens ? short(run.tokens) : null],
          ["Cost", money(run.cost_usd)],
          ["Begun", <When key="begun" iso={run.created_at} />],
          [
            "Told in",
            <Link key="told" href={chatOf(run.task_id)}>
              {run.task_id}
            </Link>,
          ],
        ]}
      />
      {run.problem ? <Problem error={run.problem} /> : null}
      {problem ? <Problem error={problem} /> : null}
    </section>
  );
}

function Phases({ run }: { run: Run }) {
  const found = phases(run.calls ?? []);
  if (found.length === 0) return <Empty title="No agent has been asked yet" />;
  return (
    <ol class={css.phases} aria-label="Phases">
      {found.map(([phase, calls]) => (
        <li key={phase} class={css.phase}>
          <h3>{phase || "Without a phase"}</h3>
          <span
            class={css.count}
          >{`${calls.filter(({ status }) => status === "completed").length} of ${calls.length}`}</span>
          <ul class={css.calls}>
            {calls.map((call) => (
              <Row key={call.call_key} call={call} />
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

function Row({ call }: { call: Call }) {
  return (
    <li class={css.call}>
      <Badge tone={CALLS[call.status]}>{call.status === "running" ? "works" : call.status}</Badge>
      <Link href={taskOf(call.task_id)}>{call.label || call.call_key.slice(0, 8)}</Link>
      {call.attempt > 1 ? <span>{`attempt ${call.attempt}`}</span> : null}
      <span class={css.cost}>{money(call.cost_usd)}</span>
      {call.problem ? <p class={css.problem}>{call.problem}</p> : null}
    </li>
  );
}
