// A board: its items in columns by how they stand. They move by themselves when somebody takes, finishes or gives back.

import { useState } from "preact/hooks";
import { plural } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import css from "./board.module.css";
import { Card, useMe } from "./card.tsx";
import { COLUMNS, type Column, FEW, MOST, sizeOf, useColumns } from "./columns.ts";
import type { Board, Item } from "./work.ts";

interface Props {
  board: string;
  known: Board | undefined;
  /** How often something was changed here. */
  changes: number;
}

export function BoardView({ board, known, changes }: Props) {
  const [limit, setLimit] = useState(FEW);
  const columns = useColumns(board, limit, changes);
  const me = useMe();
  if (columns.value === null)
    return columns.error ? <Problem {...columns} /> : <Loading label="Loading the board" />;
  const found = columns.value;
  if (COLUMNS.every(([name]) => found[name].length === 0)) {
    return (
      <Empty title="Nothing is on this board">
        Put the first piece of work here. From then on agents see the board too: they take what is ready, say
        what came of it, and give back what they cannot do.
      </Empty>
    );
  }
  return (
    <>
      {columns.error ? <Problem {...columns} /> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: on a narrow screen it is scrolled with the keyboard */}
      <section class={css.board} aria-label={`Board ${board}`} tabIndex={0}>
        {COLUMNS.map(([name, title]) => (
          <Lane
            key={name}
            {...{ name, title, items: found[name], me }}
            size={Math.max(found[name].length, sizeOf(name, known))}
            onMore={limit < MOST ? () => setLimit(MOST) : null}
          />
        ))}
      </section>
    </>
  );
}

interface LaneProps {
  name: Column;
  title: string;
  items: Item[];
  me: string;
  size: number;
  /** Reads more of it; null when this is as much as is shown. */
  onMore: (() => void) | null;
}

const NOTHING: Record<Column, string> = {
  blocked: "Nothing waits for something else.",
  ready: "Nothing can be taken now.",
  in_progress: "Nobody is at anything.",
  completed: "Nothing is done yet.",
};

function Lane({ name, title, items, me, size, onMore }: LaneProps) {
  const rest = size - items.length;
  return (
    <section class={`${css.lane} ${css[name]}`} aria-label={title}>
      <header class={css.head}>
        <span class={css.dot} aria-hidden="true" />
        <h2>{title}</h2>
        <span class={css.size}>{size}</span>
      </header>
      <ul class={css.cards}>
        {items.map((item) => (
          <Card key={item.item_id} item={item} me={me} />
        ))}
      </ul>
      {items.length === 0 ? <p class={css.nothing}>{NOTHING[name]}</p> : null}
      {rest > 0 && onMore ? (
        <Button size="s" kind="quiet" onClick={onMore}>
          Show more
        </Button>
      ) : null}
      {rest > 0 && !onMore ? <p class={css.nothing}>{`${plural(rest, "item")} more, less urgent`}</p> : null}
    </section>
  );
}
