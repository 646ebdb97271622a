import type { LucideIcon } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { type Detail, Details } from "../../ui/details.tsx";
import { type Part, told } from "./health.ts";
import css from "./part-card.module.css";

interface Props {
  title: string;
  icon: LucideIcon;
  part: Part | null;
  details: readonly (Detail | null)[];
  /** Said in place of whether it works. */
  word?: readonly [Tone, string] | null;
  children?: ComponentChildren;
}

/** A part of the engine: whether it works, what is wrong, and its particulars. */
export function PartCard({ title, icon: Icon, part, details, word, children }: Props) {
  const problem = told(part, "problem");
  return (
    <section class={css.part} aria-label={title}>
      <header class={css.head}>
        <Icon size={16} aria-hidden="true" />
        <h2>{title}</h2>
        {part ? <Standing part={part} word={word ?? null} /> : null}
      </header>
      {problem ? (
        <p class={css.problem} role="alert">
          {problem}
        </p>
      ) : null}
      {children}
      <Details details={details} />
    </section>
  );
}

function Standing({ part, word }: { part: Part; word: readonly [Tone, string] | null }) {
  if (!part.ok) return <Badge tone="bad">problem</Badge>;
  const [tone, said] = word ?? ["good", "works"];
  return <Badge tone={tone}>{said}</Badge>;
}
