import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import css from "./list.module.css";

/** Things one below the other, each with its name, how it stands and what can be done. */
export function List({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <ul class={css.list} aria-label={label}>
      {children}
    </ul>
  );
}

interface Props {
  name: string;
  href?: string;
  badges?: ComponentChildren;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

export function Entry({ name, href, badges, about, actions, children }: Props) {
  return (
    <li class={css.entry}>
      <div class={`${css.head} ${actions ? css.many : ""}`}>
        <div class={css.text}>
          <div class={css.line}>
            {href ? (
              <Link href={href} class={css.name}>
                {name}
              </Link>
            ) : (
              <span class={css.name}>{name}</span>
            )}
            {badges}
          </div>
          {about ? <p class={css.about}>{about}</p> : null}
        </div>
        {actions ? <div class={css.actions}>{actions}</div> : null}
      </div>
      {children}
    </li>
  );
}

/** Small facts of an entry, side by side as far as there is room. */
export function EntryFacts({ children }: { children: ComponentChildren }) {
  return <p class={css.facts}>{children}</p>;
}

interface SectionProps {
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a page under a heading of its own, without a frame. */
export function Section({ title, about, actions, children }: SectionProps) {
  return (
    <section class={css.section}>
      <header class={css.sectionHead}>
        <div>
          <h2>{title}</h2>
          {about ? <p class={css.sectionAbout}>{about}</p> : null}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}
