// Much of something, a part at first: nobody reads a megabyte, and a browser that lays it out stands still.

import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { bytes, count } from "../lib/words.ts";
import css from "./long.module.css";

const CHARS = 20_000;
const MORE = 10;

/** A text, cut where it gets too long to be read anyway. */
export function Long({
  text,
  draw = (shown) => shown,
}: {
  text: string;
  draw?: (shown: string) => ComponentChildren;
}) {
  const [most, setMost] = useState(CHARS);
  if (text.length <= most) return <>{draw(text)}</>;
  return (
    <>
      {draw(text.slice(0, most))}
      <button type="button" class={css.more} onClick={() => setMost(most * MORE)}>
        {`Show more (${bytes(text.length - most)} are hidden)`}
      </button>
    </>
  );
}

/** A list, cut where it gets too long. */
export function Many<T>({
  of,
  most,
  draw,
}: {
  of: T[];
  most: number;
  draw: (one: T, at: number) => ComponentChildren;
}) {
  const [shown, setShown] = useState(most);
  return (
    <>
      {of.slice(0, shown).map((one, at) => (
        <Fragment key={at}>{draw(one, at)}</Fragment>
      ))}
      {of.length > shown ? <More left={of.length - shown} more={() => setShown(shown * MORE)} /> : null}
    </>
  );
}

export function More({ left, more }: { left: number; more: () => void }) {
  return (
    <button type="button" class={css.more} onClick={more}>
      {`Show more (${count(left)} are hidden)`}
    </button>
  );
}
