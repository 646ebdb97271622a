// What a team asks a person: whether it may begin, member by member with what each would be told; and whether a member may
// go on with its plan.

import { Link } from "wouter-preact";
import { visible } from "../lib/safe.ts";
import { money } from "../lib/words.ts";
import { Long } from "../markdown/long.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { Badge } from "../ui/badge.tsx";
import css from "./team-text.module.css";

type Input = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? visible(value) : "");

export function TeamText({ input }: { input: Input }) {
  const members = Array.isArray(input.members) ? (input.members as Input[]) : [];
  const budget = typeof input.budget_usd === "number" ? input.budget_usd : 0;
  return (
    <div class={css.team}>
      <ul class={css.members} aria-label="Who would be in it">
        {members.map((member, at) => (
          <li key={at}>
            <p class={css.line}>
              <b>{text(member.name)}</b>
              {text(member.role) ? <Badge tone="accent">{text(member.role)}</Badge> : null}
              {text(member.agent) ? <Badge>{text(member.agent)}</Badge> : null}
              {member.require_plan === true ? <Badge tone="warn">shows you its plan first</Badge> : null}
            </p>
            <p class={css.prompt}>
              <Long text={text(member.prompt)} />
            </p>
          </li>
        ))}
      </ul>
      <p class={css.budget}>
        {budget > 0 ? `Together they may spend ${money(budget)}.` : "Only the budgets of this task hold."}
      </p>
    </div>
  );
}

export function PlanText({ input }: { input: Input }) {
  const team = typeof input.team_id === "string" ? input.team_id : "";
  return (
    <div class={css.team}>
      <div class={css.plan}>
        <Markdown text={text(input.plan)} />
      </div>
      {team ? <Link href={`/teams/${encodeURIComponent(team)}`}>The team, and its plans so far</Link> : null}
    </div>
  );
}
