// The time-line: turn after turn, in each its steps with how long they took and what they cost. Only the rows in sight
// are drawn; what is open stays open while it is out of sight.

import { useMemo, useState } from "preact/hooks";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Rows } from "../../ui/rows.tsx";
import { useFeedback } from "./feedback.ts";
import { useFork } from "./forking.ts";
import { type Lane, laneOf } from "./lane.ts";
import type { Recording } from "./recording.ts";
import { StepRow } from "./step-row.tsx";
import type { Step, TurnLine } from "./steps.ts";
import css from "./timeline-view.module.css";
import { TurnHead } from "./turn-head.tsx";

const COLUMNS = ["Time", "In", "Cache", "Out", "Cost"];

interface Row {
  turn: TurnLine;
  number: number;
  lane: Lane;
  step: Step | null;
}

/** Every turn, followed by its steps. */
function rowsOf(turns: TurnLine[]): Row[] {
  return turns.flatMap((turn, at) => {
    const head: Row = { turn, number: at + 1, lane: laneOf(turn, turn.seen), step: null };
    return [head, ...turn.steps.map((step) => ({ ...head, step }))];
  });
}

export function TimelineView({ recording }: { recording: Recording }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const feedback = useFeedback(recording.taskId);
  const { fork, error } = useFork(recording.taskId);
  const toggle = useMemo(
    () => (key: string) =>
      setOpen((was) => {
        const now = new Set(was);
        if (!now.delete(key)) now.add(key);
        return now;
      }),
    [],
  );
  const version = recording.version.value;
  const { turns } = recording.timeline;
  if (turns.length === 0) {
    return recording.loading.value ? (
      <Loading label="Loading the thread" />
    ) : (
      <Empty title="Nothing happened here yet" />
    );
  }
  return (
    <>
      {error ? <Problem error={error} /> : null}
      {feedback.error ? <Problem error={feedback.error} /> : null}
      <div class={css.columns} aria-hidden="true" data-version={version}>
        <span class={css.step}>Step</span>
        {COLUMNS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <Rows class={css.rows} label="Time-line" data={rowsOf(turns)}>
        {(row: Row) =>
          row.step ? (
            <StepRow
              key={row.step.key}
              {...{ step: row.step, turn: row.turn, lane: row.lane, toggle, taskId: recording.taskId }}
              open={open.has(row.step.key)}
            />
          ) : (
            <TurnHead
              key={row.turn.id}
              {...{
                turn: row.turn,
                number: row.number,
                lane: row.lane,
                fork,
                feedback,
                taskId: recording.taskId,
              }}
            />
          )
        }
      </Rows>
    </>
  );
}
