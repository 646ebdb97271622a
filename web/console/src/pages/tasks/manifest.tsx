// What a model call was shown: its blocks in order, where each came from and how much of the prompt it was.

import type { wire } from "@aster/client";
import { count } from "../../lib/words.ts";
import css from "./manifest.module.css";

export function Manifest({ call }: { call: wire.ContextCallDetail }) {
  const whole = Math.max(call.total_tokens, 1);
  const fill = call.window
    ? ` of ${count(call.window)} (${((100 * call.total_tokens) / call.window).toFixed(1)} %)`
    : "";
  return (
    <div class={css.manifest}>
      <p class={css.sum}>
        {`${count(call.total_tokens)} tokens${fill}`}
        {call.moved ? `; first block that moved: ${call.moved} (${call.moved_source})` : ""}
      </p>
      <ol class={css.blocks}>
        {call.blocks.map((block, at) => (
          <li key={at} class={css.block}>
            <span class={css.name}>{block.block}</span>
            <span class={css.source}>{block.source}</span>
            <span class={css.tokens}>{count(block.tokens)}</span>
            <span class={css.share} aria-hidden="true">
              <span style={{ width: `${(100 * block.tokens) / whole}%` }} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
