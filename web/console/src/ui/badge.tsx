import type { ComponentChildren } from "preact";
import css from "./badge.module.css";

export type Tone = "plain" | "good" | "warn" | "bad" | "info" | "accent";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`${css.badge} ${css[tone]}`}>{children}</span>;
}

const STATUS: Record<string, Tone> = {
  running: "info",
  suspended: "warn",
  completed: "good",
  errored: "bad",
  cancelled: "plain",
  idle: "plain",
};

/** How a task or turn stands, in a word and a colour. */
export function Status({ value }: { value: string }) {
  return <Badge tone={STATUS[value] ?? "plain"}>{value === "suspended" ? "waits for you" : value}</Badge>;
}
