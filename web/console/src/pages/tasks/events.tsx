// The thread as it is stored: every event, found by its kind or by any text in it.

import type { AsterEvent } from "@aster/client";
import { GitFork, History, Search } from "lucide-preact";
import { useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { visible } from "../../lib/safe.ts";
import { count, plural } from "../../lib/words.ts";
import { CopyButton, Highlighted } from "../../markdown/code.tsx";
import { Long } from "../../markdown/long.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Rows } from "../../ui/rows.tsx";
import { counted, filtered, gist } from "./event-filter.ts";
import css from "./events.module.css";
import { useFork } from "./forking.ts";
import list from "./list.module.css";
import type { Recording } from "./recording.ts";

const clock = new Intl.DateTimeFormat(undefined, {
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false },
});

export function Events({ recording }: { recording: Recording }) {
  const [words, setWords] = useState("");
  const [type, setType] = useState("");
  const [open, setOpen] = useState<number | null>(null);
  const { fork, error } = useFork(recording.taskId);
  const version = recording.version.value;
  const { events } = recording;
  const types = useMemo(() => counted(events), [version]);
  const found = useMemo(() => filtered(events, type, words), [version, type, words]);
  if (events.length === 0) {
    return recording.loading.value ? <Loading label="Loading events" /> : <Empty title="No events yet" />;
  }
  return (
    <>
      <div class={`${list.tools} ${css.tools}`}>
        <label class={list.search}>
          <Search size={15} aria-hidden="true" />
          <span class="visually-hidden">Search events</span>
          <input
            type="search"
            data-primary-field
            placeholder="Any text in an event"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <select
          class={css.types}
          aria-label="Kind of event"
          value={type}
          onChange={(event) => setType(event.currentTarget.value)}
        >
          <option value="">{`All kinds (${count(events.length)})`}</option>
          {types.map(([name, many]) => (
            <option key={name} value={name}>{`${name} (${count(many)})`}</option>
          ))}
        </select>
        <span class={css.count} role="status">
          {plural(found.length, "event")}
        </span>
      </div>
      {error ? <Problem error={error} /> : null}
      {found.length === 0 ? <Empty title="No event fits" /> : null}
      <Rows class={css.rows} label="Events" data={found}>
        {(event: AsterEvent) => (
          <EventRow
            key={event.seq}
            {...{ event, taskId: recording.taskId, fork, open: open === event.seq }}
            toggle={() => setOpen(open === event.seq ? null : event.seq)}
          />
        )}
      </Rows>
    </>
  );
}

interface RowProps {
  event: AsterEvent;
  taskId: string;
  open: boolean;
  toggle: () => void;
  fork: (seq: number) => void;
}

function EventRow({ event, taskId, open, toggle, fork }: RowProps) {
  return (
    <div class={css.event}>
      <button type="button" class={css.row} aria-expanded={open} onClick={toggle}>
        <span class={css.seq}>{event.seq}</span>
        <time class={css.at} dateTime={event.timestamp}>
          {clock.format(new Date(event.timestamp))}
        </time>
        <span class={css.type}>{event.type}</span>
        <span class={css.gist}>{gist(event)}</span>
      </button>
      {open ? <Whole {...{ event, taskId, fork }} /> : null}
    </div>
  );
}

function Whole({ event, taskId, fork }: Pick<RowProps, "event" | "taskId" | "fork">) {
  const text = JSON.stringify(event, null, 2);
  return (
    <div class={css.whole}>
      <div class={css.actions}>
        <Link href={`${taskOf(taskId, "replay")}?seq=${event.seq}`}>
          <History size={13} aria-hidden="true" /> Replay to here
        </Link>
        <IconButton size="s" label="Fork from here" onClick={() => fork(event.seq)}>
          <GitFork size={14} />
        </IconButton>
        <CopyButton text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard */}
      <pre class={css.json} tabIndex={0}>
        <Long text={text} draw={(shown) => <Highlighted text={visible(shown)} language="json" />} />
      </pre>
    </div>
  );
}
