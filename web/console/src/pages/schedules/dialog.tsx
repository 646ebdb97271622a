// Making a schedule or changing one: what is said, and when; the next times are told while it is filled in.

import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select, Textarea } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { Segments } from "../../ui/segments.tsx";
import css from "./dialog.module.css";
import { blank, bodyOf, changeOf, type Draft, draftOf, dueOf, type Kind } from "./draft.ts";
import { type Preview, type Schedule, schedules } from "./schedules.ts";
import { Times } from "./times.tsx";
import { WhenFields } from "./when-fields.tsx";

const KINDS: readonly (readonly [Kind, string])[] = [
  ["cron", "By the clock"],
  ["interval", "Every"],
  ["once", "Once"],
  ["watch", "When"],
];
const TYPING_MS = 250;

interface Props {
  /** The one that is changed; without it, a new one is made. */
  schedule?: Schedule;
  onLeave: () => void;
  onDone: (made: Schedule) => void;
}

export function ScheduleDialog({ schedule, onLeave, onDone }: Props) {
  const [draft, setDraft] = useState<Draft>(() => (schedule ? draftOf(schedule) : blank()));
  const change = (part: Partial<Draft>) => setDraft((was) => ({ ...was, ...part }));
  const body = schedule ? changeOf(draft, schedule) : bodyOf(draft);
  const send = async () =>
    onDone(await (schedule ? schedules.edit(schedule.schedule_id, body) : schedules.create(body)));
  return (
    <Dialog title={schedule ? "Change the schedule" : "New schedule"} wide onLeave={onLeave}>
      <Form submit={schedule ? "Save" : "Make it"} ready={body !== null} send={send} onLeave={onLeave}>
        <Input
          label="Name"
          maxLength={100}
          value={draft.name}
          onInput={(event) => change({ name: event.currentTarget.value })}
        />
        <Textarea
          label="What is said"
          hint="It is read like a message of yours. Nobody is there when it runs: what needs a person waits or is refused."
          rows={4}
          required
          value={draft.prompt}
          onInput={(event) => change({ prompt: event.currentTarget.value })}
        />
        <div class={css.when}>
          <div class={css.fields}>
            <Segments
              label="When it is due"
              value={draft.kind}
              options={KINDS}
              onChoose={(kind) => change({ kind })}
            />
            <WhenFields draft={draft} onChange={change} />
          </div>
          <Coming draft={draft} />
        </div>
        <Pair>
          <Input
            label="Task"
            hint={schedule ? "Where it is said cannot be changed" : "Left empty, every run has its own"}
            disabled={schedule !== undefined}
            value={draft.task}
            onInput={(event) => change({ task: event.currentTarget.value })}
          />
          <Select
            label="Missed times"
            hint="What is done about times no engine was there for"
            value={draft.catchUp}
            onChange={(event) => change({ catchUp: event.currentTarget.value as Draft["catchUp"] })}
          >
            <option value="latest">Make up for the latest</option>
            <option value="all">Make up for all</option>
            <option value="none">Leave them out</option>
          </Select>
          <Input
            label="At most"
            hint="Runs, then it ends; empty: no end"
            type="number"
            min={1}
            value={draft.maxRuns}
            onInput={(event) => change({ maxRuns: event.currentTarget.value })}
          />
        </Pair>
      </Form>
    </Dialog>
  );
}

/** The next times of what is filled in so far, or what is wrong with it. */
function Coming({ draft }: { draft: Draft }) {
  const due = dueOf(draft);
  const asked = due === null || draft.kind === "watch" ? null : JSON.stringify(due);
  const [told, setTold] = useState<{ preview?: Preview; problem?: unknown }>({});
  useEffect(() => {
    let gone = false;
    if (asked === null) return setTold({});
    const timer = setTimeout(() => {
      schedules.preview(JSON.parse(asked)).then(
        (preview) => gone || setTold({ preview }),
        (problem: unknown) => gone || setTold({ problem }),
      );
    }, TYPING_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [asked]);
  return (
    <section class={css.coming} aria-label="It would be due" aria-live="polite">
      <h3>It would be due</h3>
      {told.problem ? (
        <p class={css.problem}>
          {told.problem instanceof Error ? told.problem.message : String(told.problem)}
        </p>
      ) : told.preview ? (
        <Times coming={told.preview.coming} />
      ) : (
        <p class={css.none}>
          {draft.kind === "watch"
            ? "Whenever it was not so before, and is so now."
            : "Say when, and the next times are told here."}
        </p>
      )}
    </section>
  );
}
