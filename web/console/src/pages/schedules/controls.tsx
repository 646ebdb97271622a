// What can be done with a schedule: run it now, pause it and go on, end it for good.

import { CirclePause, CirclePlay, Play, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Problem } from "../../ui/page.tsx";
import { nameOf, over, type Schedule, schedules } from "./schedules.ts";

interface Props {
  schedule: Schedule;
  again: () => void;
  size: "s" | "m";
}

export function Controls({ schedule, again, size }: Props) {
  const { sending, problem, send } = useSending();
  const [ending, setEnding] = useState(false);
  if (over(schedule)) return null;
  const id = schedule.schedule_id;
  const act = (work: (id: string) => Promise<unknown>) => void send(() => work(id).then(again));
  const paused = schedule.status === "paused";
  return (
    <>
      {problem ? <Problem error={problem} /> : null}
      <Button size={size} disabled={sending} onClick={() => act(schedules.run)}>
        <Play size={13} aria-hidden="true" /> Run now
      </Button>
      <Button size={size} disabled={sending} onClick={() => act(paused ? schedules.resume : schedules.pause)}>
        {paused ? (
          <>
            <CirclePlay size={13} aria-hidden="true" /> Resume
          </>
        ) : (
          <>
            <CirclePause size={13} aria-hidden="true" /> Pause
          </>
        )}
      </Button>
      <IconButton size={size} label={`End ${nameOf(schedule)}`} onClick={() => setEnding(true)}>
        <Trash2 size={14} />
      </IconButton>
      {ending ? (
        <Confirm
          title={`End ${nameOf(schedule)}?`}
          submit="End it"
          onLeave={() => setEnding(false)}
          send={async () => {
            await schedules.cancel(id);
            setEnding(false);
            again();
          }}
        >
          It is not due any more, and times that wait are skipped. A turn that has begun goes on.
        </Confirm>
      ) : null}
    </>
  );
}
