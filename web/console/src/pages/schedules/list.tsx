import { CalendarPlus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useLive } from "../../lib/live.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Entry, EntryFacts, List } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { When } from "../../ui/when.tsx";
import { Controls } from "./controls.tsx";
import { ScheduleDialog } from "./dialog.tsx";
import css from "./list.module.css";
import { dueWords, nameOf, over, type Schedule, STATUSES, scheduleOf, schedules } from "./schedules.ts";

const MOST = 200;
const SHOWN = [
  ["open", "Active and paused"],
  ["over", "Over"],
] as const;

async function all(): Promise<Schedule[]> {
  const found: Schedule[] = [];
  for (let before: number | null = null; found.length < MOST; ) {
    const page = await schedules.list(before);
    found.push(...page.schedules);
    before = page.next;
    if (before === null) break;
  }
  return found;
}

export function ScheduleList() {
  const loaded = useLive(all, []);
  const [creating, setCreating] = useState(false);
  const [shown, setShown] = useState<"open" | "over">("open");
  const [, navigate] = useLocation();
  const found = loaded.value?.filter((one) => over(one) === (shown === "over")) ?? [];
  return (
    <Page
      title="Schedules"
      about="What is said to a task later, again and again, or when something becomes so. Every time that was due is accounted for."
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          <CalendarPlus size={15} aria-hidden="true" /> New schedule
        </Button>
      }
    >
      <div>
        <Segments label="Which schedules" value={shown} options={SHOWN} onChoose={setShown} />
      </div>
      {loaded.error ? <Problem {...loaded} /> : null}
      {loaded.value === null ? (
        loaded.error ? null : (
          <Loading label="Loading schedules" />
        )
      ) : found.length === 0 ? (
        <Nothing over={shown === "over"} />
      ) : (
        <List label="Schedules">
          {found.map((schedule) => (
            <Row key={schedule.schedule_id} schedule={schedule} again={loaded.again} />
          ))}
        </List>
      )}
      {creating ? (
        <ScheduleDialog
          onLeave={() => setCreating(false)}
          onDone={(made) => navigate(scheduleOf(made.schedule_id))}
        />
      ) : null}
    </Page>
  );
}

function Nothing({ over: past }: { over: boolean }) {
  if (past) return <Empty title="None is over yet" />;
  return (
    <Empty title="Nothing is scheduled">
      Make one here, or say it in a chat: “every Monday at nine, sum up what is new”.
    </Empty>
  );
}

function Row({ schedule, again }: { schedule: Schedule; again: () => void }) {
  return (
    <Entry
      name={nameOf(schedule)}
      href={scheduleOf(schedule.schedule_id)}
      badges={
        <>
          <Badge tone={STATUSES[schedule.status]}>{schedule.status}</Badge>
          {schedule.problem ? <Badge tone="bad">has a problem</Badge> : null}
        </>
      }
      about={dueWords(schedule)}
      actions={<Controls schedule={schedule} again={again} size="s" />}
    >
      <EntryFacts>
        {schedule.next_at ? (
          <span>
            {schedule.kind === "watch" ? "looks again " : "next "}
            <When iso={schedule.next_at} />
          </span>
        ) : null}
        <span>{schedule.runs ? `ran ${plural(schedule.runs, "time")}` : "has not run yet"}</span>
        {schedule.name ? <span class={css.prompt}>{schedule.prompt}</span> : null}
      </EntryFacts>
    </Entry>
  );
}
