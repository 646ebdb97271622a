// Learning now: it is begun by a button, told step by step while it lasts, and ends with what came of it.

import type { wire } from "@aster/client";
import { Play, X } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useSending } from "../../lib/sending.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Problem } from "../../ui/page.tsx";
import { changesetOf, learning, OUTCOMES } from "./learning.ts";
import type { Progress } from "./progress.ts";
import css from "./run.module.css";

export interface Run {
  running: boolean;
  problem: unknown;
  /** What came of the last one; null when it was put away or there was none. */
  runs: wire.RunAnswer[] | null;
  begin: () => void;
  putAway: () => void;
}

export function useRun(): Run {
  const { sending, problem, send } = useSending();
  const [runs, setRuns] = useState<wire.RunAnswer[] | null>(null);
  return {
    ...{ running: sending, problem, runs, putAway: () => setRuns(null) },
    begin: () => {
      setRuns(null);
      void send(async () => setRuns((await learning.run([])).runs));
    },
  };
}

export function RunNow({ run, off }: { run: Run; off: boolean }) {
  return (
    <Button
      kind="primary"
      disabled={run.running || off}
      title={off ? "Learning is off. Start the engine with LEARNING=auto or on." : undefined}
      onClick={run.begin}
    >
      <Play size={14} aria-hidden="true" /> {run.running ? "Learning…" : "Run now"}
    </Button>
  );
}

export function RunTold({ run, progress }: { run: Run; progress: Progress }) {
  if (run.problem) return <Problem error={run.problem} again={run.begin} />;
  if (run.running)
    return (
      <div class={css.told} role="status">
        <span class={css.pulse} aria-hidden="true" />
        <span class={css.text}>{progress.notes[0]?.text || "Learning has begun."}</span>
      </div>
    );
  if (run.runs === null) return null;
  return (
    <div class={css.told} role="status">
      <ul class={css.runs} aria-label="What came of it">
        {run.runs.length === 0 ? <li>There was nothing to do.</li> : null}
        {run.runs.map((one, at) => (
          <li key={at}>
            <Outcome run={one} />
          </li>
        ))}
      </ul>
      <IconButton size="s" label="Put away" onClick={run.putAway}>
        <X size={14} />
      </IconButton>
    </div>
  );
}

/** How a piece of learning went, in a line. */
export function Outcome({ run, named = true }: { run: wire.RunAnswer; named?: boolean }) {
  const [words, tone] = OUTCOMES[run.outcome] ?? [run.outcome, "plain" as const];
  return (
    <span class={css.outcome}>
      {named ? <strong>{run.work}</strong> : null}
      <Badge tone={tone}>{words}</Badge>
      {run.changeset_id ? <Link href={changesetOf(run.changeset_id)}>what changed</Link> : null}
      {run.reason ? <span class={css.text}>{run.reason}</span> : null}
    </span>
  );
}
