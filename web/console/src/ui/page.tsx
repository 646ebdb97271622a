import type { ComponentChildren } from "preact";
import { useTitle } from "../lib/title.ts";
import css from "./page.module.css";

interface Props {
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of every page but the chat: a heading, what can be done, and the rest. */
export function Page({ title, about, actions, children }: Props) {
  useTitle(title);
  return (
    <div class={css.page}>
      <header class={css.head}>
        <div>
          <h1>{title}</h1>
          {about ? <p class={css.about}>{about}</p> : null}
        </div>
        {actions ? <div class={css.actions}>{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  children,
  actions,
}: {
  title?: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <section class={css.card}>
      {title || actions ? (
        <header class={css.cardHead}>
          {title ? <h2>{title}</h2> : null}
          {actions ? <div class={css.actions}>{actions}</div> : null}
        </header>
      ) : null}
      {children}
    </section>
  );
}

/** What is said where there is nothing to show yet. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class={css.empty}>
      <p class={css.emptyTitle}>{title}</p>
      {children ? <div class={css.emptyText}>{children}</div> : null}
    </div>
  );
}

export function Problem({ error, again }: { error: unknown; again?: (() => void) | undefined }) {
  return (
    <div class={css.problem} role="alert">
      <span>{error instanceof Error ? error.message : String(error)}</span>
      {again ? (
        <button type="button" class={css.again} onClick={again}>
          Try again
        </button>
      ) : null}
    </div>
  );
}

export function Loading({ label = "Loading" }: { label?: string }) {
  return (
    <div class={css.loading} role="status">
      <span class={css.spinner} aria-hidden="true" />
      <span class="visually-hidden">{label}</span>
    </div>
  );
}
