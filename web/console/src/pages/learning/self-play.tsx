// Self-play: how far the agent has come in each field, the challenges it met, and the buttons that begin and end it.

import type { wire } from "@aster/client";
import { Play, Square } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { count, duration, money } from "../../lib/words.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import { placeOf } from "../memory/memory.ts";
import { changesetOf, learning } from "./learning.ts";
import css from "./self-play.module.css";

type Cluster = wire.ClusterAnswer["cluster"];

const CLUSTERS: Record<Cluster, string> = {
  data_analysis: "Data analysis",
  regex_parse: "Parsing",
  sql: "SQL",
  concurrency: "Concurrency",
  algo: "Algorithms",
  bash: "Shell",
  python_general: "Python",
};

export function SelfPlay({ version }: { version: number }) {
  const found = useLoaded(learning.selfPlay, [version]);
  if (found.value === null)
    return found.error ? <Problem error={found.error} again={found.again} /> : <Loading />;
  const { clusters, runs, problem } = found.value;
  return (
    <>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      <Bar state={found.value} again={found.again} />
      {problem === null || runs.length > 0 ? (
        <>
          <Card title="How far it has come">
            <Frontier clusters={clusters} />
          </Card>
          {runs.length ? (
            <Card title="Challenges">
              <Challenges runs={runs} />
            </Card>
          ) : (
            <Empty title="No challenge was met yet" />
          )}
        </>
      ) : null}
    </>
  );
}

function Bar({ state, again }: { state: wire.SelfPlayAnswer; again: () => void }) {
  const [cluster, setCluster] = useState<Cluster | "">("");
  const { sending, problem, send } = useSending();
  const act = (work: () => Promise<unknown>) =>
    void send(async () => {
      await work();
      again();
    });
  const { budget } = state;
  return (
    <Card>
      <p class={css.about}>
        The agent meets challenges of its own in an empty workspace, without a network and without anything of
        yours. Lessons from it go on trial like all others. It ends as soon as anybody writes a message.
      </p>
      {problem ? <Problem error={problem} /> : null}
      {state.problem ? (
        <p class={css.off}>{state.problem}</p>
      ) : (
        <div class={css.bar}>
          <Select
            label="Field"
            value={cluster}
            onChange={(event) => setCluster(event.currentTarget.value as Cluster | "")}
          >
            <option value="">where it is worth most</option>
            {Object.entries(CLUSTERS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </Select>
          {state.running ? (
            <Button disabled={sending} onClick={() => act(learning.stopPlay)}>
              <Square size={14} aria-hidden="true" /> Stop
            </Button>
          ) : (
            <Button disabled={sending} onClick={() => act(() => learning.play(cluster || null))}>
              <Play size={14} aria-hidden="true" /> Meet a challenge
            </Button>
          )}
          <p class={css.facts}>
            {state.running ? "It plays now. " : ""}
            {money(budget.spent_usd)} spent today
            {budget.limit_usd === null ? "" : ` of ${money(budget.limit_usd)}`}; the next one by itself at
            least {duration(1000 * state.cooldown_seconds)} after the last.
          </p>
        </div>
      )}
    </Card>
  );
}

function standing({ mastered, saturated, brittle, runs }: wire.ClusterAnswer): readonly [string, Tone] {
  if (mastered) return ["mastered", "good"];
  if (saturated) return ["saturated", "plain"];
  if (brittle > 0) return ["shaky", "warn"];
  return runs ? ["growing", "info"] : ["not met yet", "plain"];
}

function Frontier({ clusters }: { clusters: wire.ClusterAnswer[] }) {
  return (
    <Table
      label="How far it has come"
      head={["Field", "Level", "Standing", "#Challenges", "#Won at once", "#Shortest"]}
    >
      {clusters.map((one) => {
        const [words, tone] = standing(one);
        return (
          <tr key={one.cluster}>
            <td>{CLUSTERS[one.cluster]}</td>
            <td>{one.tier}</td>
            <td>
              <Badge tone={tone}>{words}</Badge>
            </td>
            <Figure>{count(one.runs)}</Figure>
            <Figure>{count(one.wins)}</Figure>
            <Figure>{one.best === null ? "–" : `${Math.round(one.best / 10)} %`}</Figure>
          </tr>
        );
      })}
    </Table>
  );
}

function Challenges({ runs }: { runs: wire.PlayedAnswer[] }) {
  return (
    <Table
      label="Challenges"
      head={["Challenge", "Field", "When", "Outcome", "#Tries", "#Score", "#Cost", ""]}
    >
      {runs.map((run, at) => (
        <tr key={at}>
          <td class={css.title}>
            {run.task_id ? <Link href={placeOf(run.task_id, run.first_seq)}>{run.title}</Link> : run.title}
          </td>
          <td>{CLUSTERS[run.cluster]}</td>
          <td class={css.when}>
            <When iso={run.at} />
          </td>
          <td>
            <Badge tone={run.passed ? "good" : "bad"}>{run.passed ? "solved" : "not solved"}</Badge>
          </td>
          <Figure>{run.attempts}</Figure>
          <Figure>{run.score.toFixed(2)}</Figure>
          <Figure>{money(run.cost_usd)}</Figure>
          <td>{run.changeset_id ? <Link href={changesetOf(run.changeset_id)}>what changed</Link> : null}</td>
        </tr>
      ))}
    </Table>
  );
}
