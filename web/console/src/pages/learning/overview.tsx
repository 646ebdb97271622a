// How learning stands: whether it runs by itself, what waits, what it may cost, what it did last, and what it was good for.

import type { wire } from "@aster/client";
import { ArrowRight } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { type Loaded, useLoaded } from "../../lib/loaded.ts";
import { count, duration, money, plural } from "../../lib/words.ts";
import { Meter } from "../../ui/meter.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { type Tile, Tiles } from "../../ui/tiles.tsx";
import { When } from "../../ui/when.tsx";
import { Activity } from "./activity.tsx";
import { learning } from "./learning.ts";
import css from "./overview.module.css";
import type { Progress } from "./progress.ts";
import { Outcome } from "./run.tsx";
import { Utility } from "./utility.tsx";

const WORKS: Record<string, string> = {
  batch: "Learns from what has happened",
  dream: "Tidies what is remembered",
  trials: "Tries lessons on recorded turns",
  skills: "Finds steps that recur",
  self_play: "Practises on challenges of its own",
};

interface Props {
  status: Loaded<wire.LearningStatus>;
  progress: Progress;
}

export function Overview({ status, progress }: Props) {
  if (status.value === null)
    return status.error ? <Problem error={status.error} again={status.again} /> : <Loading />;
  return (
    <>
      {status.error ? <Problem error={status.error} again={status.again} /> : null}
      <Tiles tiles={tilesOf(status.value)} />
      <Waiting version={progress.version} />
      {status.value.queue.set_aside ? (
        <Hint href="/learning/journal?state=set_aside" tone="warn">
          {plural(status.value.queue.set_aside, "thing")} could not be learned from and{" "}
          {status.value.queue.set_aside === 1 ? "was" : "were"} set aside.
        </Hint>
      ) : null}
      <Utility version={progress.version} />
      <div class={css.columns}>
        <Card title="What it does">
          <Works works={status.value.works} />
        </Card>
        <Card title="Activity">
          {progress.notes.length ? (
            <Activity notes={progress.notes} />
          ) : (
            <Empty title="Nothing was done yet">What learning does is told here as it happens.</Empty>
          )}
        </Card>
      </div>
    </>
  );
}

function tilesOf({ mode, by_itself, review, queue, next_run_at, budget }: wire.LearningStatus): Tile[] {
  const share = budget.limit_usd ? budget.spent_usd / budget.limit_usd : 0;
  return [
    ["Learning", mode, modeOf(mode, by_itself, review)],
    [
      "Waiting",
      count(queue.waiting),
      queue.claimed ? (
        `${count(queue.claimed)} being read`
      ) : queue.oldest_at ? (
        <>
          oldest <When iso={queue.oldest_at} />
        </>
      ) : (
        `${count(queue.done)} learned from`
      ),
    ],
    [
      "Next run",
      next_run_at ? <When key="next" iso={next_run_at} /> : "–",
      next_run_at ? "sooner when nobody works" : by_itself ? "when nobody works" : "when you ask for it",
    ],
    [
      "Spent today",
      money(budget.spent_usd),
      budget.limit_usd === null ? (
        "no limit"
      ) : (
        <span key="budget" class={css.budget}>
          <Meter
            label="Budget of the day"
            value={share}
            text={`${Math.round(100 * share)} %`}
            tone={share >= 1 ? "bad" : share > 0.8 ? "warn" : "accent"}
          />
          of {money(budget.limit_usd)}
        </span>
      ),
    ],
  ];
}

function modeOf(mode: string, byItself: boolean, review: boolean): string {
  if (mode === "off") return "nothing is noted or learned";
  const when = byItself ? "by itself" : "only when asked";
  return `${when}, ${review ? "you accept changes" : "applied at once"}`;
}

/** Changes that a person has to look at. */
function Waiting({ version }: { version: number }) {
  const found = useLoaded(() => learning.changesets({ status: "proposed", limit: 100 }), [version]);
  if (found.error) return <Problem error={found.error} again={found.again} />;
  const many = found.value?.changesets.length ?? 0;
  if (many === 0) return null;
  return (
    <Hint href="/learning/changes?status=proposed" tone="accent">
      {found.value?.next ? "More than 100 changes wait" : `${plural(many, "change waits", "changes wait")}`}{" "}
      for you to accept or reject.
    </Hint>
  );
}

interface HintProps {
  href: string;
  tone: "warn" | "accent";
  children: ComponentChildren;
}

function Hint({ href, tone, children }: HintProps) {
  return (
    <Link href={href} class={`${css.hint} ${css[tone]}`}>
      <span>{children}</span>
      <ArrowRight size={15} aria-hidden="true" />
    </Link>
  );
}

function Works({ works }: { works: wire.WorkAnswer[] }) {
  return (
    <Table label="What learning does" head={["Work", "Last time", "By itself after"]}>
      {works.map(({ name, idle_seconds, last }) => (
        <tr key={name}>
          <td>
            <strong>{name}</strong>
            <span class={css.about}>{WORKS[name] ?? ""}</span>
          </td>
          <td>
            {last ? (
              <span class={css.last}>
                <Outcome run={last} named={false} /> <When iso={last.at} />
              </span>
            ) : (
              "not yet"
            )}
          </td>
          <td>{duration(1000 * idle_seconds)} of quiet</td>
        </tr>
      ))}
    </Table>
  );
}
