// What a program says, as it says it: the newest line stays in sight unless somebody has scrolled up to read.

import { usePinned } from "../../lib/pinned.ts";
import { visible } from "../../lib/safe.ts";
import css from "./terminal.module.css";

// Colours and movements of a terminal: they say nothing here.
const CONTROLS = new RegExp(
  `${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\u0007]*\\u0007|[@-Z\\\\-_])`,
  "g",
);

/** A line that a program wrote over and over is shown as it was left. */
export const plainly = (text: string): string =>
  text
    .replace(CONTROLS, "")
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n");

interface Props {
  text: string;
  live: boolean;
  /** What is said while there is nothing yet. */
  nothing: string | null;
}

export function Terminal({ text, live, nothing }: Props) {
  const box = usePinned<HTMLPreElement>(text);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long output is scrolled with the keyboard
    <pre ref={box} class={css.terminal} tabIndex={0} role="log" aria-label="Output">
      {text ? (
        visible(plainly(text))
      ) : (
        <span class={css.none}>{live ? (nothing ?? "Nothing yet.") : "It said nothing."}</span>
      )}
      {live ? <span class={css.cursor} aria-hidden="true" /> : null}
    </pre>
  );
}
