// Plans of members: those that wait for a person are read, held against the one before, and approved or sent back.

import { diffLines } from "diff";
import { Check, Undo2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useSending } from "../../lib/sending.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Textarea } from "../../ui/field.tsx";
import { type DiffLine, LineDiff } from "../../ui/line-diff.tsx";
import { Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { When } from "../../ui/when.tsx";
import { workOf } from "../work/work.ts";
import { Face } from "./face.tsx";
import css from "./plans.module.css";
import { type Request, type Team, teams } from "./teams.ts";

interface Props {
  team: Team;
  requests: readonly Request[];
  again: () => void;
}

export function Plans({ team, requests, again }: Props) {
  const open = requests.filter((one) => one.status === "pending");
  if (open.length === 0) return null;
  return (
    <section class={css.plans} aria-label="Plans that wait">
      {open.map((request) => (
        <Plan key={request.request_id} {...{ team, request, again }} before={before(request, requests)} />
      ))}
    </section>
  );
}

/** The plan that the same member handed in before this one, for the same work. */
export function before(request: Request, all: readonly Request[]): Request | null {
  return (
    all
      .filter(
        (one) =>
          one.member === request.member &&
          one.item_id === request.item_id &&
          one.created_at < request.created_at,
      )
      .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))[0] ?? null
  );
}

/** Line by line, what became of a plan. */
export const changes = (was: string, now: string): DiffLine[] =>
  diffLines(was, now).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, "")
      .split("\n")
      .map((text): DiffLine => ({ kind: added ? "add" : removed ? "drop" : "same", text })),
  );

interface PlanProps {
  team: Team;
  request: Request;
  before: Request | null;
  again: () => void;
}

const READINGS = [
  ["plan", "The plan"],
  ["changes", "What changed"],
] as const;

function Plan({ team, request, before: was, again }: PlanProps) {
  const [reading, setReading] = useState<"plan" | "changes">(was ? "changes" : "plan");
  return (
    <article class={css.plan} aria-label={`Plan of ${request.member}`}>
      <header class={css.head}>
        <Face name={request.member} team={team} />
        <div>
          <h2>{`${request.member} asks you to approve its plan`}</h2>
          <p class={css.facts}>
            <When iso={request.created_at} />
            {request.item_id ? (
              <Link href={workOf({ board: team.board, item: request.item_id })}>for this work</Link>
            ) : null}
            {was ? <Badge>{`the one before was ${was.status}`}</Badge> : null}
          </p>
        </div>
        {was ? (
          <Segments label="What is read" value={reading} options={READINGS} onChoose={setReading} />
        ) : null}
      </header>
      {was?.feedback ? (
        <p
          class={css.asked}
        >{`${was.answered_by === "person" ? "You" : was.answered_by} had said: ${was.feedback}`}</p>
      ) : null}
      {was && reading === "changes" ? (
        <LineDiff lines={changes(was.content, request.content)} added="new" dropped="gone" />
      ) : (
        <div class={css.text}>
          <Markdown text={request.content} />
        </div>
      )}
      {request.target === "person" ? (
        <Decide team={team} request={request} again={again} />
      ) : (
        <p class={css.facts}>{`It is for ${request.target} to answer.`}</p>
      )}
    </article>
  );
}

function Decide({ team, request, again }: Omit<PlanProps, "before">) {
  const [feedback, setFeedback] = useState("");
  const { sending, problem, send } = useSending();
  const answer = (approve: boolean) =>
    void send(() => teams.answer(team.team_id, request.request_id, approve, feedback.trim()).then(again));
  return (
    <div class={css.decide}>
      <Textarea
        label="What it should know"
        hint="Needed to send it back; else as you like"
        rows={2}
        value={feedback}
        onInput={(event) => setFeedback(event.currentTarget.value)}
      />
      {problem ? <Problem error={problem} /> : null}
      <div class={css.buttons}>
        <Button disabled={sending || feedback.trim() === ""} onClick={() => answer(false)}>
          <Undo2 size={14} aria-hidden="true" /> Send it back
        </Button>
        <Button kind="primary" disabled={sending} onClick={() => answer(true)}>
          <Check size={14} aria-hidden="true" /> Approve
        </Button>
      </div>
    </div>
  );
}
