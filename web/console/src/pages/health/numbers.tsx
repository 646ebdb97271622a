// What the engine is doing right now, in numbers.

import { bytes, count } from "../../lib/words.ts";
import { type Sample, sum } from "./metrics.ts";
import css from "./numbers.module.css";

const NUMBERS: [name: string, label: string][] = [
  ["aster_turns_running", "turns running"],
  ["aster_turns_suspended", "wait for a person"],
  ["aster_queue_backlog", "messages wait"],
  ["aster_streams_open", "streams open"],
  ["aster_background_running", "background calls"],
  ["aster_circuits_open", "circuits open"],
  ["aster_quotas_used_up", "limits used up"],
  ["aster_events_total", "events written"],
];

export function Numbers({ metrics }: { metrics: Sample[] }) {
  const memory = sum(metrics, "process_resident_memory_bytes");
  const shown = NUMBERS.map(([name, label]) => [label, sum(metrics, name)] as const);
  return (
    <dl class={css.numbers}>
      {shown.map(([label, value]) =>
        value === null ? null : (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{count(value)}</dd>
          </div>
        ),
      )}
      {memory === null ? null : (
        <div>
          <dt>of memory</dt>
          <dd>{bytes(memory)}</dd>
        </div>
      )}
    </dl>
  );
}
