import css from "./quote.module.css";

/** The person's own words. */
export function Quote({ words }: { words: string }) {
  return words ? <blockquote class={css.quote}>{words}</blockquote> : null;
}
