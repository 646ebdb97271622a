import type { ComponentChildren } from "preact";
import css from "./details.module.css";

export type Detail = readonly [name: string, value: ComponentChildren];

/** What is known about one thing, line by line; details that are null are left out. */
export function Details({ details }: { details: readonly (Detail | null)[] }) {
  return (
    <dl class={css.details}>
      {details.map((detail) =>
        detail === null ? null : (
          <div key={detail[0]}>
            <dt>{detail[0]}</dt>
            <dd>{detail[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
