// A change of a file, line by line: what went and what came, with a few lines around.

import { structuredPatch } from "diff";
import { useMemo } from "preact/hooks";
import { visible } from "../../lib/safe.ts";
import { Many } from "../../markdown/long.tsx";
import type { Call } from "../../thread/items.ts";
import css from "./diff.module.css";

const AROUND = 3;
const MOST_CHARS = 200_000;
const MOST_LINES = 300;

export interface Change {
  path: string;
  edits: { before: string; after: string }[];
}

type Given = Record<string, unknown>;
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

function editsOf(input: Given): Change["edits"] | null {
  const many = Array.isArray(input.edits) ? (input.edits as Given[]) : [input];
  const edits = many.map((one) => ({ before: text(one.old_text), after: text(one.new_text) }));
  return edits.every((one): one is Change["edits"][number] => one.before !== null && one.after !== null)
    ? edits
    : null;
}

/** The change a call makes to a file, if it is that kind of call. */
export function changeOf({ tool, input }: Pick<Call, "tool" | "input">): Change | null {
  const path = text(input?.path);
  if (input === null || path === null) return null;
  const written = tool === "write_file" ? text(input.content) : null;
  const edits =
    written !== null ? [{ before: "", after: written }] : tool === "edit_file" ? editsOf(input) : null;
  if (edits === null) return null;
  const size = edits.reduce((sum, one) => sum + one.before.length + one.after.length, 0);
  return size > MOST_CHARS ? null : { path, edits };
}

export function Diff({ change }: { change: Change }) {
  const { path, edits } = change;
  const lines = useMemo(
    () =>
      edits.flatMap(({ before, after }) =>
        structuredPatch(path, path, before, after, "", "", { context: AROUND }).hunks.flatMap((hunk) =>
          hunk.lines.filter((line) => !line.startsWith("\\")),
        ),
      ),
    [path, JSON.stringify(edits)],
  );
  const came = lines.filter((line) => line.startsWith("+")).length;
  const went = lines.filter((line) => line.startsWith("-")).length;
  return (
    <figure class={css.diff} aria-label={`Change of ${path}`}>
      <figcaption>
        <span class={css.path}>{visible(path)}</span>
        {came ? <span class={css.came}>+{came}</span> : null}
        {went ? <span class={css.went}>−{went}</span> : null}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide lines are scrolled with the keyboard */}
      <div class={css.lines} tabIndex={0}>
        <div class={css.sheet}>
          <Many of={lines} most={MOST_LINES} draw={(line) => <Line line={line} />} />
        </div>
      </div>
    </figure>
  );
}

const KIND: Record<string, string> = { "+": "add", "-": "drop" };

function Line({ line }: { line: string }) {
  const kind = KIND[line[0] ?? ""] ?? "same";
  return (
    <div class={`${css.line} ${css[kind]}`}>
      <span class={css.sign} aria-hidden="true">
        {line[0]}
      </span>
      {kind === "same" ? null : <span class="visually-hidden">{kind === "add" ? "added" : "removed"}: </span>}
      {visible(line.slice(1))}
    </div>
  );
}
