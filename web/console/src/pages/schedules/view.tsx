// One schedule: what is said, when it is due next, and what became of every time that was due.

import { Pencil } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { useLive } from "../../lib/live.ts";
import { exactly, plural } from "../../lib/words.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Details } from "../../ui/details.tsx";
import { Card, Loading, Page, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { Controls } from "./controls.tsx";
import { ScheduleDialog } from "./dialog.tsx";
import { Past } from "./past.tsx";
import { dueWords, nameOf, over, type Schedule, STATUSES, schedules } from "./schedules.ts";
import { Times } from "./times.tsx";
import css from "./view.module.css";

export function ScheduleView({ id }: { id: string }) {
  const loaded = useLive(() => schedules.found(id), [id]);
  const schedule = loaded.value;
  if (schedule === null) {
    return (
      <Page title="Schedule">
        <Back href="/schedules">All schedules</Back>
        {loaded.error ? <Problem {...loaded} /> : <Loading label="Loading the schedule" />}
      </Page>
    );
  }
  return <Shown schedule={schedule} error={loaded.error} again={loaded.again} />;
}

function Shown({ schedule, error, again }: { schedule: Schedule; error: unknown; again: () => void }) {
  const [editing, setEditing] = useState(false);
  return (
    <Page
      title={nameOf(schedule)}
      about={dueWords(schedule)}
      actions={
        <>
          <Controls schedule={schedule} again={again} size="m" />
          {over(schedule) ? null : (
            <Button onClick={() => setEditing(true)}>
              <Pencil size={13} aria-hidden="true" /> Change
            </Button>
          )}
        </>
      }
    >
      <Back href="/schedules">All schedules</Back>
      {error ? <Problem error={error} again={again} /> : null}
      {schedule.problem ? <Problem error={schedule.problem} /> : null}
      <div class={css.parts}>
        <Card title="What is said">
          <div class={css.prompt}>
            <Markdown text={schedule.prompt} />
          </div>
          <Details
            details={[
              [
                "How it stands",
                <Badge key="status" tone={STATUSES[schedule.status]}>
                  {schedule.status}
                </Badge>,
              ],
              [
                "Where",
                schedule.task_id ? (
                  <Link key="where" href={chatOf(schedule.task_id)}>
                    {schedule.task_id}
                  </Link>
                ) : (
                  "every run in a task of its own"
                ),
              ],
              schedule.agent ? ["Agent", schedule.agent] : null,
              schedule.model ? ["Model", schedule.model] : null,
              ["Ran", plural(schedule.runs, "time")],
              schedule.max_runs ? ["At most", plural(schedule.max_runs, "time")] : null,
              schedule.expires_at ? ["Not after", exactly(schedule.expires_at)] : null,
              ["Missed times", CAUGHT_UP[schedule.catch_up]],
              ["Made", <When key="made" iso={schedule.created_at} />],
            ]}
          />
        </Card>
        <Card title="Next">
          <Coming schedule={schedule} />
        </Card>
      </div>
      <Past schedule={schedule} />
      {editing ? (
        <ScheduleDialog
          schedule={schedule}
          onLeave={() => setEditing(false)}
          onDone={() => {
            setEditing(false);
            again();
          }}
        />
      ) : null}
    </Page>
  );
}

const CAUGHT_UP: Record<Schedule["catch_up"], string> = {
  latest: "the latest is made up for",
  all: "all are made up for",
  none: "are left out",
};

function Coming({ schedule }: { schedule: Schedule }) {
  const { coming, kind, status, next_at: next } = schedule;
  if (status === "paused") return <p class={css.none}>It is paused: nothing is due until it goes on.</p>;
  if (kind === "watch" && next) {
    return (
      <p class={css.none}>
        It is looked at again <When iso={next} />.
      </p>
    );
  }
  if (coming.length === 0) return <p class={css.none}>It is not due any more.</p>;
  return <Times coming={coming} />;
}
