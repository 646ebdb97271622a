import type { ComponentChildren } from "preact";
import css from "./table.module.css";

interface Props {
  label: string;
  /** A heading that begins with `#` stands over numbers; an empty one over what can be done. */
  head: readonly string[];
  children: ComponentChildren;
}

/** Rows of data under headings; on a narrow screen it is scrolled sideways. */
export function Table({ label, head, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class={css.frame} aria-label={label} tabIndex={0}>
      <table class={css.table}>
        <caption class="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col" class={title.startsWith("#") ? css.number : undefined}>
                {title.replace(/^#/, "") || <span class="visually-hidden">What can be done</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** A cell for a number. */
export function Figure({ children }: { children: ComponentChildren }) {
  return <td class={css.number}>{children}</td>;
}
