// A recorded turn run again from any of its model calls, with another model, prompt, agent or memory: what is to be
// different on the one side, what came of it on the other. Tools are not run.

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { about } from "../../lib/about.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { Code } from "../../markdown/code.tsx";
import { Input, Select, Textarea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Empty, Loading } from "../../ui/page.tsx";
import { agents } from "../agents/routes.ts";
import { replays, reportOf, type Wish } from "./again-routes.ts";
import css from "./again-view.module.css";
import { nearest, quoted, type Turn, turnsOf } from "./places.ts";
import type { Recording } from "./recording.ts";
import { ReplayList } from "./replay-list.tsx";
import { ReportView } from "./report-view.tsx";

interface Props {
  recording: Recording;
  seq: number | null;
  replay: string | null;
}

export function AgainView({ recording, seq, replay }: Props) {
  const version = recording.version.value;
  const turns = turnsOf(recording.timeline.turns);
  const { taskId } = recording;
  if (recording.loading.value) return <Loading label="Loading the thread" />;
  if (turns.length === 0)
    return <Empty title="Nothing to run again yet">A turn can be run again when it has ended.</Empty>;
  return (
    <div class={css.again} data-version={version}>
      <Wishes {...{ taskId, turns, seq }} />
      <div class={css.results}>
        {replay ? <ReportView key={replay} taskId={taskId} replayId={replay} /> : null}
        <ReplayList taskId={taskId} shown={replay} seq={seq} />
      </div>
    </div>
  );
}

const MEMORY = { recorded: "as it was then", none: "nothing", current: "what it has now" } as const;
type Memory = keyof typeof MEMORY;

/** What is to be different; whatever is left empty is as it was. */
export function wishOf(draft: Record<"model" | "agent" | "instructions" | "limit", string>): Wish {
  const limit = Number.parseFloat(draft.limit);
  return {
    ...(draft.model && { model: draft.model }),
    ...(draft.agent && { agent: draft.agent }),
    ...(draft.instructions.trim() && { instructions: draft.instructions }),
    ...(limit > 0 && { max_usd: limit }),
  };
}

function Wishes({ taskId, turns, seq }: { taskId: string; turns: Turn[]; seq: number | null }) {
  const [, navigate] = useLocation();
  const models = useLoaded(about, []).value?.allowed_models ?? [];
  const named = useLoaded(agents, []).value ?? [];
  const [from, setFrom] = useState(nearest(turns, seq)?.seq ?? 0);
  useEffect(() => {
    if (seq !== null) setFrom(nearest(turns, seq)?.seq ?? 0);
  }, [seq]);
  const [draft, setDraft] = useState({ model: "", agent: "", instructions: "", limit: "" });
  const [memory, setMemory] = useState<Memory>("recorded");
  const [unrecorded, setUnrecorded] = useState<"refuse" | "stop">("refuse");
  const put = (name: keyof typeof draft) => (event: { currentTarget: { value: string } }) =>
    setDraft({ ...draft, [name]: event.currentTarget.value });
  const turn = turns.find(({ places }) => places.some((place) => place.seq === from));
  return (
    <div class={css.wishes}>
      <Card title="Run again">
        <p class={css.about}>Every tool call gets the result that is on record. Nothing is run or changed.</p>
        <Form
          submit="Run again"
          send={async () => {
            const begun = await replays.begin(taskId, {
              ...{ from_seq: from, memory, unrecorded, ...wishOf(draft) },
            });
            navigate(reportOf(taskId, begun.replay_task_id, from));
          }}
        >
          <Select label="From" value={from} onChange={(event) => setFrom(Number(event.currentTarget.value))}>
            {turns.map(({ id, title, places }) => (
              <optgroup key={id} label={title}>
                {places.map((place) => (
                  <option key={place.seq} value={place.seq}>
                    {place.title}
                  </option>
                ))}
              </optgroup>
            ))}
          </Select>
          <Select label="Model" value={draft.model} onChange={put("model")}>
            <option value="">as it was</option>
            {models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Select label="Agent" value={draft.agent} onChange={put("agent")}>
            <option value="">as it was</option>
            {named.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Select
            label="Memory"
            value={memory}
            onChange={(event) => setMemory(event.currentTarget.value as Memory)}
          >
            {Object.entries(MEMORY).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </Select>
          <Textarea
            label="Instructions"
            hint="In place of those the turn came with; empty: as they were."
            rows={3}
            value={draft.instructions}
            onInput={put("instructions")}
          />
          <Select
            label="A call that is not on record"
            value={unrecorded}
            onChange={(event) => setUnrecorded(event.currentTarget.value as typeof unrecorded)}
          >
            <option value="refuse">is refused; it goes on</option>
            <option value="stop">ends the replay</option>
          </Select>
          <Input
            label="At most, in dollars"
            hint="What models cost is real. Empty: no limit of its own."
            type="number"
            min="0"
            step="any"
            value={draft.limit}
            onInput={put("limit")}
          />
        </Form>
      </Card>
      {turn ? (
        <Card title="Export as a test">
          <p class={css.about}>
            Writes a pytest file and its recording, cleaned of secrets. It runs without a network and without
            a key.
          </p>
          <Code language="sh" text={`aster export-test ${quoted(taskId)} --turn ${quoted(turn.id)}`} />
        </Card>
      ) : null}
    </div>
  );
}
