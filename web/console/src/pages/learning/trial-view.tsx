// One trial, whole: what was tried and on which words it rests, its numbers, and turn by turn what was answered with it and
// without it, each on a thread of its own.

import type { wire } from "@aster/client";
import { MapPin } from "lucide-preact";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { money, plural } from "../../lib/words.ts";
import { Long } from "../../markdown/long.tsx";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { placeOf, recordOf } from "../memory/memory.ts";
import { reportOf } from "../tasks/again-routes.ts";
import { changesetOf, learning, saying, signed, type Trial, VERDICTS } from "./learning.ts";
import { Quote } from "./quote.tsx";
import { Scores } from "./scores.tsx";
import css from "./trial-view.module.css";

export function TrialView({ id, version }: { id: string; version: number }) {
  const found = useLoaded(() => learning.trial(id), [id, version]);
  return (
    <>
      <Back href="/learning/trials">All trials</Back>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.value?.trial_id === id ? <Whole trial={found.value} /> : found.error ? null : <Loading />}
    </>
  );
}

function Whole({ trial }: { trial: Trial }) {
  const { when, what } = saying(trial);
  const [words, tone] = VERDICTS[trial.status];
  const { task_id, first_seq } = trial.receipt;
  return (
    <>
      <Card>
        <div class={css.head}>
          <div class={css.said}>
            <div class={css.tags}>
              <Badge tone={tone}>{words}</Badge>
              <Badge>{trial.kind}</Badge>
            </div>
            <h2 class={css.what}>{what || trial.kind}</h2>
            {when ? <p class={css.soft}>when: {when}</p> : null}
            <Quote words={trial.quote} />
            {trial.reason ? <p class={css.soft}>Verdict: {trial.reason}</p> : null}
          </div>
          {trial.turns ? <Scores trial={trial} /> : null}
        </div>
        <Facts
          facts={[
            [
              "Said",
              task_id ? (
                <Link key="said" href={placeOf(task_id, first_seq)} class={css.place}>
                  <MapPin size={13} aria-hidden="true" /> {task_id}
                </Link>
              ) : null,
            ],
            [
              "Proposed",
              <Link key="changeset" href={changesetOf(trial.changeset_id)}>
                <When iso={trial.created_at} />
              </Link>,
            ],
            ["Decided", trial.decided_at ? <When key="decided" iso={trial.decided_at} /> : null],
            [
              "Became",
              trial.record_id && trial.status === "promoted" ? (
                <Link key="record" href={recordOf(trial.record_id)}>
                  a memory
                </Link>
              ) : null,
            ],
            ["Cost", money(trial.cost_usd)],
          ]}
        />
      </Card>
      {trial.runs.length ? (
        <ul class={css.turns} aria-label="Turns it was tried on">
          {paired(trial.runs).map((pair) => (
            <Turn key={pair.turn_id} pair={pair} />
          ))}
        </ul>
      ) : (
        <Empty title="It was not tried yet">
          It is tried when there are recorded turns to which it would have applied.
        </Empty>
      )}
    </>
  );
}

type Run = wire.RunOfTrial;

export interface Pair {
  turn_id: string;
  task_id: string;
  with: Run | null;
  without: Run | null;
}

/** The runs of each turn together, in the order in which turns were first tried. */
export function paired(runs: readonly Run[]): Pair[] {
  const found = new Map<string, Pair>();
  for (const run of runs) {
    const { turn_id, task_id } = run;
    const pair = found.get(turn_id) ?? { turn_id, task_id, with: null, without: null };
    found.set(turn_id, { ...pair, [run.arm]: run });
  }
  return [...found.values()];
}

function Turn({ pair }: { pair: Pair }) {
  const gain = pair.with && pair.without ? pair.with.score - pair.without.score : null;
  return (
    <li class={css.turn}>
      <header class={css.turnHead}>
        <h3>
          <Link href={taskOf(pair.task_id)}>{pair.task_id}</Link>
        </h3>
        {gain === null ? null : (
          <Badge tone={gain > 0 ? "good" : gain < 0 ? "bad" : "plain"}>{signed(gain)}</Badge>
        )}
      </header>
      <div class={css.arms}>
        <Arm title="With it" run={pair.with} />
        <Arm title="Without" run={pair.without} />
      </div>
    </li>
  );
}

function Arm({ title, run }: { title: string; run: Run | null }) {
  if (run === null)
    return (
      <section class={css.arm} aria-label={title}>
        <h4>{title}</h4>
        <p class={css.soft}>Not replayed yet.</p>
      </section>
    );
  const checks = Object.entries(run.checks);
  return (
    <section class={css.arm} aria-label={title}>
      <h4>
        {title} <strong>{run.score.toFixed(2)}</strong>
      </h4>
      <p class={css.answer}>
        <Long text={run.answer || "It gave no answer."} />
      </p>
      {checks.length ? (
        <ul class={css.checks} aria-label={plural(checks.length, "check")}>
          {checks.map(([name, value]) => (
            <li key={name}>
              {name.replaceAll("_", " ")} <strong>{value.toFixed(2)}</strong>
            </li>
          ))}
        </ul>
      ) : null}
      <p class={css.links}>
        <Link href={taskOf(run.replay_task_id)}>its thread</Link>
        <Link href={reportOf(run.task_id, run.replay_task_id)}>held against the original</Link>
        <span>{money(run.cost_usd)}</span>
      </p>
    </section>
  );
}
