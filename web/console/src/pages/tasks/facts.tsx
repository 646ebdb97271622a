// What a task came to, in a few numbers.

import { count, duration, money, short } from "../../lib/words.ts";
import css from "./facts.module.css";
import { laneOf } from "./lane.ts";
import type { Recording } from "./recording.ts";
import { cacheShare, type TurnLine } from "./steps.ts";

const LEAST_USD = 1e-9;

interface Props {
  recording: Recording;
  /** What it has cost with its sub-agents, as far as that is known. */
  whole: number | null;
}

/** What sub-agents add is told where they add something. */
const dearer = (whole: number | null, own: number | null): boolean =>
  whole !== null && whole - (own ?? 0) > LEAST_USD;

export function Facts({ recording, whole }: Props) {
  const version = recording.version.value;
  const { turns } = recording.timeline;
  const sums = added(turns);
  const share = cacheShare(sums);
  const facts: [string, string][] = [
    ["Turns", count(turns.length)],
    ["Model calls", count(sums.calls)],
    ["Tokens in", short(sums.input)],
    ["From cache", share === null ? "–" : `${share} %`],
    ["Tokens out", short(sums.output)],
    ["Cost", money(sums.cost)],
    ...(dearer(whole, sums.cost) ? [["Cost in all", money(whole)] as [string, string]] : []),
    ["Worked", duration(sums.worked)],
    ["Waited for you", sums.waited > 0 ? duration(sums.waited) : "–"],
  ];
  return (
    <dl class={css.facts} data-version={version}>
      {facts.map(([name, value]) => (
        <div key={name} class={css.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function added(turns: TurnLine[]) {
  const sums = {
    calls: 0,
    input: 0,
    cached: 0,
    output: 0,
    cost: null as number | null,
    worked: 0,
    waited: 0,
  };
  for (const turn of turns) {
    const { worked, waited } = laneOf(turn, turn.seen);
    sums.calls += turn.calls;
    sums.input += turn.input;
    sums.cached += turn.cached;
    sums.output += turn.output;
    if (turn.cost !== null) sums.cost = (sums.cost ?? 0) + turn.cost;
    sums.worked += worked;
    sums.waited += waited;
  }
  return sums;
}
