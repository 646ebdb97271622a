// The thread as it is read: only the items in sight are drawn, and it is kept at its end while it grows, until somebody
// scrolls up to read.

import { ArrowDown } from "lucide-preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Follower } from "../../thread/follower.ts";
import type { Item } from "../../thread/items.ts";
import type { WaitingMessage } from "../../thread/thread.ts";
import { IconButton } from "../../ui/button.tsx";
import { Rows, type RowsHandle } from "../../ui/rows.tsx";
import { type Doing, ItemView, shows } from "./item-view.tsx";
import { WaitingBubble } from "./lines.tsx";
import css from "./log.module.css";

const NEAR_END = 80;
type Row = Item | { kind: "waiting"; id: string; message: WaitingMessage };

function rowsOf({ thread }: Follower): Row[] {
  const waiting = [...thread.waiting].map(([id, message]) => ({ kind: "waiting" as const, id, message }));
  return [...thread.items.filter(shows), ...waiting];
}

export function Log({ follower, doing }: { follower: Follower; doing: Doing }) {
  const list = useRef<RowsHandle>(null);
  const place = useRef(0);
  const [away, setAway] = useState(false);
  const version = follower.version.value;
  const rows = rowsOf(follower);
  const toEnd = () => list.current?.scrollToIndex(rows.length - 1, { align: "end" });
  useEffect(() => {
    if (!away) toEnd();
  }, [version, rows.length, away]);
  // Only going up is leaving the end: when the last row grows the end moves away by itself.
  function scrolled(offset: number) {
    const handle = list.current;
    if (!handle) return;
    const near = handle.scrollSize - offset - handle.viewportSize <= NEAR_END;
    if (near) setAway(false);
    else if (offset < place.current) setAway(true);
    place.current = offset;
  }
  return (
    <div class={css.log}>
      <Rows
        handle={list}
        class={css.list}
        onScroll={scrolled}
        label="Conversation"
        data={rows}
        keepMounted={rows.flatMap((row, at) => (row.kind === "ask" && row.state === "open" ? [at] : []))}
      >
        {(row: Row, at: number) => (
          <div key={row.id} class={css.row} data-at={at} data-last={at === rows.length - 1 || undefined}>
            {row.kind === "waiting" ? (
              <WaitingBubble message={row.message} />
            ) : (
              <ItemView item={row} rev={row.rev} doing={doing} taskId={follower.taskId} />
            )}
          </div>
        )}
      </Rows>
      {away ? (
        <IconButton label="To the newest" kind="plain" class={css.down ?? ""} onClick={() => setAway(false)}>
          <ArrowDown size={16} />
        </IconButton>
      ) : null}
    </div>
  );
}
