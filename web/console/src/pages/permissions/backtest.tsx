import type { wire } from "@aster/client";
import { ArrowRight } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { visible } from "../../lib/safe.ts";
import { count, plural } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";
import { BEHAVIORS, type Behavior, Decision } from "../../ui/decision.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Input } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Table } from "../../ui/table.tsx";
import css from "./permissions.module.css";
import { backtest, type Proposal } from "./routes.ts";
import { ToolField } from "./tool-field.tsx";
import { inLine, THEN } from "./words.ts";

interface Props {
  tools: wire.ToolEntry[];
  propose: (proposal: Proposal) => void;
}

interface Tried {
  rule: Required<wire.BacktestBody>;
  answer: wire.BacktestAnswer;
}

/** What a rule would have meant for the calls there were. Nothing is changed. */
export function Backtest({ tools, propose }: Props) {
  const [behavior, setBehavior] = useState<Behavior>("allow");
  const [tool, setTool] = useState("bash");
  const [pattern, setPattern] = useState("*");
  const [tried, setTried] = useState<Tried | null>(null);
  const rule = { tool: tool.trim() || "*", pattern: pattern.trim() || "*", behavior };
  return (
    <>
      <Card title="A rule">
        <Form submit="Look at past calls" send={async () => setTried({ rule, answer: await backtest(rule) })}>
          <Segments label="What happens" value={behavior} options={BEHAVIORS} onChoose={setBehavior} />
          <Pair>
            <ToolField tools={tools} value={tool} onChange={setTool} hint="A name, or a pattern: github.*" />
            <Input
              label="Calls that look like"
              value={pattern}
              hint="A pattern over the command, the path, the address or the whole input."
              onInput={(event) => setPattern(event.currentTarget.value)}
            />
          </Pair>
        </Form>
      </Card>
      <div aria-live="polite">{tried ? <Result tried={tried} propose={propose} /> : null}</div>
    </>
  );
}

function Result({ tried: { rule, answer }, propose }: { tried: Tried; propose: Props["propose"] }) {
  if (answer.matched === 0) {
    return (
      <Empty title="The rule is about none of them">
        {`${plural(answer.calls, "past call")} looked at${answer.complete ? "" : ", the newest"}.`}
      </Empty>
    );
  }
  return (
    <Card
      title="What it would have meant"
      actions={
        <Button size="s" onClick={() => propose(rule)}>
          Keep it as a grant
        </Button>
      }
    >
      <Facts
        facts={[
          ["Looked at", `${plural(answer.calls, "call")}${answer.complete ? "" : ", the newest"}`],
          ["Is about", count(answer.matched)],
          ["Decided otherwise", count(answer.changed)],
          ...BEHAVIORS.map(
            ([name, words]) => [`Would ${words.toLowerCase()}`, count(answer.would[name] ?? 0)] as const,
          ),
        ]}
      />
      <Facts facts={Object.entries(THEN).map(([name, words]) => [words, count(answer.then[name] ?? 0)])} />
      {answer.would_allow_denied ? (
        <p class={css.warning}>
          It would allow {plural(answer.would_allow_denied, "call")} that a person had denied.
        </p>
      ) : null}
      {answer.would_deny_approved ? (
        <p class={css.warning}>
          It would deny {plural(answer.would_deny_approved, "call")} that ran or were approved.
        </p>
      ) : null}
      {answer.examples.length ? <Examples examples={answer.examples} /> : null}
    </Card>
  );
}

function Examples({ examples }: { examples: wire.ExampleAnswer[] }) {
  return (
    <Table label="Examples" head={["Call", "Now", "Then", "Task"]}>
      {examples.map(({ call, now, proposed }) => (
        <tr key={`${call.task_id} ${call.seq}`}>
          <td>
            <span class={css.call}>
              <code class={css.tool}>{call.tool}</code>
              <code>{visible(inLine(call.input))}</code>
            </span>
          </td>
          <td>
            <span class={css.change}>
              <Decision behavior={now} />
              <ArrowRight size={12} role="img" aria-label="would become" />
              <Decision behavior={proposed} />
            </span>
          </td>
          <td>{THEN[call.then]}</td>
          <td>
            <Link href={taskOf(call.task_id)}>{call.task_id}</Link>
          </td>
        </tr>
      ))}
    </Table>
  );
}
