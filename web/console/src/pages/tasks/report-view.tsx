// What a replay came to: where it first took another way, how the answers differ, and what both used.

import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { visible } from "../../lib/safe.ts";
import { Long } from "../../markdown/long.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Card, Loading, Problem } from "../../ui/page.tsx";
import { placeOf } from "../memory/memory.ts";
import { type Report, replays } from "./again-routes.ts";
import { AnswerDiff } from "./answer-diff.tsx";
import { Arms } from "./arms.tsx";
import css from "./report-view.module.css";

export function ReportView({ taskId, replayId }: { taskId: string; replayId: string }) {
  const now = useLoaded(() => replays.report(taskId, replayId, false), [taskId, replayId]);
  const running = now.value?.status === "running";
  const end = useLoaded(
    async () => (running ? replays.report(taskId, replayId, true) : null),
    [taskId, replayId, running],
  );
  const report = end.value ?? now.value;
  const error = now.error ?? end.error;
  if (error) return <Problem error={error} again={now.error ? now.again : end.again} />;
  if (report === null) return <Loading label="Loading the report" />;
  if (report.status === "running") return <Running report={report} />;
  return (
    <Card
      title="What came of it"
      actions={
        <Link class={css.thread} href={taskOf(replayId)}>
          its thread
        </Link>
      }
    >
      <Verdict report={report} taskId={taskId} />
      <Arms report={report} />
      <section class={css.part} aria-label="The answers">
        <h3>The answers</h3>
        <AnswerDiff report={report} />
      </section>
    </Card>
  );
}

function Running({ report }: { report: Report }) {
  return (
    <Card title="It runs">
      <p class={css.running} role="status">
        The replay has made {report.replayed.steps} of {report.recorded.steps} model calls.{" "}
        <Link href={taskOf(report.replay_task_id)}>Follow its thread</Link>
      </p>
    </Card>
  );
}

const written = (value: unknown): string => {
  if (value === null || value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
};

const KINDS: Record<NonNullable<Report["divergence"]>["kind"], string> = {
  call: "another call",
  arguments: "the same tool with other arguments",
  answer: "another answer",
  stop_reason: "another end",
  status: "another outcome",
};

function Verdict({ report, taskId }: { report: Report; taskId: string }) {
  const { divergence, same, replayed } = report;
  if (divergence === null)
    return (
      <p class={css.same}>
        <Badge tone={same ? "good" : "plain"}>{same ? "the same" : "no difference found"}</Badge> The same
        calls, and the same answer.
      </p>
    );
  return (
    <section class={css.part} aria-label="Where it differs">
      <p class={css.verdict}>
        <Badge tone="warn">differs</Badge>
        <strong>
          At model call {divergence.step}: {KINDS[divergence.kind]}.
        </strong>
        {replayed.unrecorded ? <Badge tone="warn">{replayed.unrecorded} not on record</Badge> : null}
      </p>
      <div class={css.sides}>
        <Side
          title="Recorded"
          href={divergence.source_seq === null ? null : placeOf(taskId, divergence.source_seq)}
          value={divergence.kind === "answer" ? null : written(divergence.recorded)}
        />
        <Side
          title="Replayed"
          href={divergence.replay_seq === null ? null : placeOf(report.replay_task_id, divergence.replay_seq)}
          value={divergence.kind === "answer" ? null : written(divergence.replayed)}
        />
      </div>
    </section>
  );
}

/** A side of what differs; without a value, which the answers below show, where it stands alone. */
function Side({ title, href, value }: { title: string; href: string | null; value: string | null }) {
  return (
    <section class={css.side} aria-label={title}>
      <h4>
        {title}
        {href ? <Link href={href}>go there</Link> : null}
      </h4>
      {value === null ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard
        <pre class={css.value} tabIndex={0}>
          <Long text={visible(value)} />
        </pre>
      )}
    </section>
  );
}
