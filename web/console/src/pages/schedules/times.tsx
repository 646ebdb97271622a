import { ago, exactly, precisely } from "../../lib/words.ts";
import css from "./times.module.css";

/** Times to come, one below the other. */
export function Times({ coming }: { coming: readonly string[] }) {
  const shown = new Set(coming.map(exactly)).size === coming.length ? exactly : precisely;
  return (
    <ol class={css.times} aria-label="Next times">
      {coming.map((iso) => (
        <li key={iso}>
          <time dateTime={iso}>{shown(iso)}</time>
          <span>{ago(iso)}</span>
        </li>
      ))}
    </ol>
  );
}
