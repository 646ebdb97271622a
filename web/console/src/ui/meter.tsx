import css from "./meter.module.css";

interface Props {
  label: string;
  /** From 0 to 1; more is shown as full. */
  value: number;
  /** What it says in words. */
  text?: string;
  tone?: "accent" | "good" | "warn" | "bad" | "plain";
}

/** How much of something there is. */
export function Meter({ label, value, text, tone = "accent" }: Props) {
  const share = Math.max(0, Math.min(1, value));
  return (
    <span class={css.track}>
      <meter class="visually-hidden" aria-label={label} aria-valuetext={text} value={share} />
      <span class={`${css.fill} ${css[tone]}`} style={{ width: `${share * 100}%` }} />
    </span>
  );
}
