// Something that happened to work that outlives the turn, with the way to where there is more of it.

import {
  CalendarClock,
  FolderGit2,
  type LucideIcon,
  Mail,
  SquareKanban,
  SquareTerminal,
  Target,
  Users,
  Workflow,
} from "lucide-preact";
import { Link } from "wouter-preact";
import { Long } from "../../markdown/long.tsx";
import { Markdown } from "../../markdown/markdown.tsx";
import type { Told } from "../../thread/items.ts";
import { Badge } from "../../ui/badge.tsx";
import type { Shown } from "./item-view.tsx";
import css from "./told-card.module.css";

const ICONS: Record<Told["about"], LucideIcon> = {
  work: SquareKanban,
  worktree: FolderGit2,
  mail: Mail,
  team: Users,
  schedule: CalendarClock,
  workflow: Workflow,
  project: Target,
  background: SquareTerminal,
};

export function ToldCard({ item }: Shown<Told>) {
  const Icon = ICONS[item.about];
  return (
    <section class={`${css.card} ${css[item.tone]}`} aria-label={item.title}>
      <Icon size={15} aria-hidden="true" />
      <div class={css.body}>
        <p class={css.head}>
          <span class={css.title}>{item.title}</span>
          {item.badge ? <Badge tone={item.tone}>{item.badge}</Badge> : null}
        </p>
        {item.lines.length ? (
          <ul class={css.lines}>
            {item.lines.map(({ text, href }, place) => (
              <li key={place}>{href ? <Link href={href}>{text}</Link> : text}</li>
            ))}
          </ul>
        ) : null}
        {item.text ? (
          <div class={css.text}>
            {item.about === "mail" ? <Markdown text={item.text} /> : <Long text={item.text} />}
          </div>
        ) : null}
      </div>
    </section>
  );
}
