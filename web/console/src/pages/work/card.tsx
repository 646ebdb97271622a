// An item on its board, or wherever it is named: what is to be done, and what of it matters at a glance.

import { ArrowDown, ArrowUp, FolderGit2, Hourglass, UserRound } from "lucide-preact";
import { Link, useLocation } from "wouter-preact";
import { about } from "../../lib/about.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { Badge } from "../../ui/badge.tsx";
import { When } from "../../ui/when.tsx";
import css from "./card.module.css";
import { type Item, workOf } from "./work.ts";

/** The name the person here goes by, as an owner; empty until it is known. */
export const useMe = (): string => useLoaded(about, []).value?.user_id ?? "";

/** Who has something: the person here, a member by its name in its team, or anybody else by the name it goes by. */
export const named = (owner: string, me: string): string =>
  owner === me ? "you" : owner.replace(/^team-[^/]+\//, "");

export function Card({ item, me }: { item: Item; me: string }) {
  const [location] = useLocation();
  const view = location.split("/")[2] ?? "";
  return (
    <li class={`${css.card} ${item.status === "completed" ? css.done : ""}`}>
      <Link href={workOf({ board: item.board, item: item.item_id, view })} class={css.subject}>
        {item.subject}
      </Link>
      <p class={css.about}>
        {item.priority ? (
          <span class={css.fact} title={`Priority ${item.priority}`}>
            {item.priority > 0 ? (
              <ArrowUp size={12} aria-hidden="true" />
            ) : (
              <ArrowDown size={12} aria-hidden="true" />
            )}
            <span class="visually-hidden">Priority</span>
            {item.priority}
          </span>
        ) : null}
        {item.role ? <Badge tone="accent">{item.role}</Badge> : null}
        {item.owner ? (
          <span class={css.fact}>
            <UserRound size={12} aria-hidden="true" />
            <span class={css.owner}>{named(item.owner, me)}</span>
          </span>
        ) : null}
        {item.waiting_for.length && item.status === "pending" ? (
          <span class={css.fact}>
            <Hourglass size={12} aria-hidden="true" /> {`waits for ${item.waiting_for.length}`}
          </span>
        ) : null}
        {item.worktree ? (
          <span class={css.fact} title="It has a working directory of its own">
            <FolderGit2 size={12} aria-hidden="true" /> <span class={css.owner}>{item.worktree}</span>
          </span>
        ) : null}
        <span class={css.when}>
          <When iso={item.completed_at ?? item.claimed_at ?? item.created_at} />
        </span>
      </p>
    </li>
  );
}
