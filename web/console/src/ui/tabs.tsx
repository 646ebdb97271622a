import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "wouter-preact";
import css from "./tabs.module.css";

export interface Tab {
  href: string;
  title: ComponentChildren;
  current: boolean;
}

/** Views of one thing, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const all = useRef<HTMLElement>(null);
  const current = tabs.findIndex((tab) => tab.current);
  useEffect(() => {
    all.current?.children[current]?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [current]);
  return (
    <nav ref={all} class={css.tabs} aria-label={label}>
      {tabs.map(({ href, title, current }) => (
        <Link key={href} href={href} class={css.tab} aria-current={current ? "page" : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
