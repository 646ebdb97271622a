// The scrubber: every place on the thread under one handle, and below it the conversation as it was there.

import { ChevronLeft, ChevronRight, GitFork, Pause, Play } from "lucide-preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { count } from "../../lib/words.ts";
import type { Item } from "../../thread/items.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Rows, type RowsHandle } from "../../ui/rows.tsx";
import { shows } from "../chat/item-view.tsx";
import { useFork } from "./forking.ts";
import { countAt, type Recording } from "./recording.ts";
import { Replay } from "./replay.ts";
import { ReplayItem } from "./replay-item.tsx";
import css from "./replay-view.module.css";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function ReplayView({ recording, seq }: { recording: Recording; seq: number | null }) {
  const [, navigate] = useLocation();
  const { fork, error } = useFork(recording.taskId);
  const [at, setAt] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const version = recording.version.value;
  const { events } = recording;
  const replay = useMemo(() => new Replay(events), [events]);
  const place = Math.min(at ?? (seq === null ? events.length : countAt(events, seq)), events.length);
  useEffect(() => setAt(null), [seq]);
  usePlaying(playing && place < events.length, () => setAt(place + 1));
  if (events.length === 0) {
    return recording.loading.value ? (
      <Loading label="Loading the thread" />
    ) : (
      <Empty title="Nothing to replay yet" />
    );
  }
  const event = events[place - 1];
  const keep = (now: number) =>
    navigate(`${taskOf(recording.taskId, "replay")}?seq=${events[now - 1]?.seq ?? 0}`, { replace: true });
  function go(now: number) {
    setPlaying(false);
    keep(Math.max(0, Math.min(now, events.length)));
  }
  return (
    <div class={css.replay} data-version={version}>
      <div class={css.bar}>
        <IconButton
          size="s"
          label={playing ? "Pause" : "Play"}
          onClick={() => {
            if (place === events.length) setAt(0);
            setPlaying(!playing);
          }}
        >
          {playing ? <Pause size={15} /> : <Play size={15} />}
        </IconButton>
        <IconButton size="s" label="The turn before" onClick={() => go(turnBefore(recording, place))}>
          <ChevronLeft size={15} />
        </IconButton>
        <IconButton size="s" label="The turn after" onClick={() => go(turnAfter(recording, place))}>
          <ChevronRight size={15} />
        </IconButton>
        <input
          class={css.handle}
          type="range"
          min={0}
          max={events.length}
          value={place}
          aria-label="Place on the thread"
          aria-valuetext={event ? `${event.seq}, ${event.type}` : "before the beginning"}
          onInput={(change) => {
            setPlaying(false);
            setAt(Number(change.currentTarget.value));
          }}
          onChange={(change) => keep(Number(change.currentTarget.value))}
        />
        <Button size="s" disabled={!event} onClick={() => event && fork(event.seq)}>
          <GitFork size={14} /> Fork from here
        </Button>
      </div>
      <p class={css.where}>
        <span>{`${count(event?.seq ?? 0)} of ${count(recording.seq)}`}</span>
        <code>{event?.type ?? "before the beginning"}</code>
        {event ? <time dateTime={event.timestamp}>{clock.format(new Date(event.timestamp))}</time> : null}
      </p>
      {error ? <Problem error={error} /> : null}
      <Conversation replay={replay} place={place} taskId={recording.taskId} />
    </div>
  );
}

function usePlaying(playing: boolean, next: () => void): void {
  const newest = useRef(next);
  newest.current = next;
  useEffect(() => {
    if (!playing) return;
    let frame = requestAnimationFrame(function step() {
      newest.current();
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing]);
}

const beginnings = ({ timeline, events }: Recording): number[] =>
  timeline.turns.map((turn) => countAt(events, turn.seq));
const turnBefore = (recording: Recording, place: number): number =>
  beginnings(recording).findLast((begins) => begins < place) ?? 0;
const turnAfter = (recording: Recording, place: number): number =>
  beginnings(recording).find((begins) => begins > place) ?? recording.events.length;

function Conversation({ replay, place, taskId }: { replay: Replay; place: number; taskId: string }) {
  const list = useRef<RowsHandle>(null);
  const items = replay.at(place).items.filter(shows);
  useEffect(() => {
    list.current?.scrollToIndex(items.length - 1, { align: "end" });
  }, [place, items.length]);
  return (
    <Rows handle={list} class={css.list} label="The conversation as it was" data={items}>
      {(item: Item) => (
        <div key={item.id} class={css.row}>
          <ReplayItem item={item} taskId={taskId} />
        </div>
      )}
    </Rows>
  );
}
