// Two prompts side by side, block by block: what stayed, what came, what went, and from where on the cache was of no use.

import type { wire } from "@aster/client";
import { count } from "../../lib/words.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import css from "./difference.module.css";
import panel from "./panel.module.css";

const TONES: Record<wire.ContextChange["change"], Tone> = {
  same: "plain",
  changed: "warn",
  grown: "info",
  added: "good",
  removed: "bad",
};

export function Difference({ diff }: { diff: wire.ContextDiff }) {
  const { before, after, moved } = diff;
  return (
    <section class={css.difference} aria-label="The difference">
      <h2>{`Call ${before.call} and call ${after.call}`}</h2>
      <p class={moved ? css.moved : css.kept}>
        {moved
          ? `The first block that moved is ${moved.block} (${moved.source}): nothing after it could come from the provider's cache.`
          : `Call ${after.call} begins with all of call ${before.call}: the provider's cache could serve it.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard */}
      <div class={panel.frame} tabIndex={0}>
        <table class={panel.table}>
          <thead>
            <tr>
              <th scope="col">Block</th>
              <th scope="col">Source</th>
              <th scope="col">Change</th>
              <th scope="col" class={panel.number}>
                {`Call ${before.call}`}
              </th>
              <th scope="col" class={panel.number}>
                {`Call ${after.call}`}
              </th>
              <th scope="col" class={panel.number}>
                Difference
              </th>
            </tr>
          </thead>
          <tbody>
            {diff.blocks.map((block, at) => (
              <BlockRow key={at} block={block} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={3}>All</td>
              <td class={panel.number}>{count(before.total_tokens)}</td>
              <td class={panel.number}>{count(after.total_tokens)}</td>
              <td class={panel.number}>{signed(after.total_tokens - before.total_tokens)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
    </section>
  );
}

function BlockRow({ block: { change, before, after } }: { block: wire.ContextChange }) {
  const shown = after ?? before;
  return (
    <tr class={css[change]}>
      <td class={panel.name}>{shown?.block}</td>
      <td class={panel.soft}>
        {shown?.source} <span class={panel.hash}>{shown?.hash.slice(0, 8)}</span>
      </td>
      <td>
        <Badge tone={TONES[change]}>{change}</Badge>
      </td>
      <td class={panel.number}>{before ? count(before.tokens) : "–"}</td>
      <td class={panel.number}>{after ? count(after.tokens) : "–"}</td>
      <td class={panel.number}>{signed((after?.tokens ?? 0) - (before?.tokens ?? 0))}</td>
    </tr>
  );
}

const signed = (value: number): string => (value > 0 ? `+${count(value)}` : count(value));
