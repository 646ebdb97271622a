// Where a recorded turn can be run again from: its model calls, each named by what came before it.

import type { ModelStep, Step, TurnLine } from "./steps.ts";

export interface Place {
  seq: number;
  title: string;
}

export interface Turn {
  id: string;
  seq: number;
  title: string;
  places: Place[];
}

const ENDED = new Set<string>(["completed", "errored", "cancelled"]);
const SAID_CHARS = 60;

const asked = (step: Step): step is ModelStep =>
  step.kind === "model" && step.purpose === "step" && step.discarded === null && step.usage !== null;

function title(before: Step[], number: number): string {
  const tools = before.filter((step) => step.kind === "tool").map(({ tool }) => tool);
  const after = tools.length ? `after ${[...new Set(tools)].join(", ")}` : "once more";
  return number === 1 ? "From the beginning" : `Model call ${number}, ${after}`;
}

function placesOf({ steps }: TurnLine): Place[] {
  const found: Place[] = [];
  let from = 0;
  steps.forEach((step, at) => {
    if (!asked(step)) return;
    found.push({ seq: step.seq, title: title(steps.slice(from, at), found.length + 1) });
    from = at + 1;
  });
  return found;
}

/** The turns that have ended and in which a model was asked, the newest first. */
export function turnsOf(turns: readonly TurnLine[]): Turn[] {
  return turns
    .map((turn, at) => {
      const said = turn.said.length > SAID_CHARS ? `${turn.said.slice(0, SAID_CHARS)}…` : turn.said;
      return {
        id: turn.id,
        seq: turn.seq,
        title: `Turn ${at + 1}: ${said}`,
        places: placesOf(turn),
        ended: ENDED.has(turn.phase),
      };
    })
    .filter(({ ended, places }) => ended && places.length > 0)
    .toReversed();
}

/** The model call at or before a place on the thread, in the turn that is there; else where that turn begins. */
export function nearest(turns: readonly Turn[], seq: number | null): Place | null {
  const turn = turns.find((one) => seq === null || one.seq <= seq) ?? turns[0];
  return turn?.places.findLast((place) => seq !== null && place.seq <= seq) ?? turn?.places[0] ?? null;
}

const PLAIN = /^[\w.@:/-]+$/;

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  PLAIN.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", "'\\''")}'`;
