// Where a step is drawn on its turn's lane. People take minutes where machines take milliseconds: the time somebody was
// waited for is drawn as a small part of the lane, however long it was.

import type { TurnLine } from "./steps.ts";

const DRAWN_SHARE = 0.18;

export interface Place {
  left: number;
  width: number;
}

export interface Lane {
  /** Fractions of the lane. */
  place: (from: number, to: number) => Place;
  waited: number;
  worked: number;
}

type Pause = readonly [from: number, to: number];

/** The times in which a person was waited for and nothing else was done, in order and apart from one another. */
function pauses(turn: TurnLine, end: number): Pause[] {
  const found: [number, number][] = [];
  for (const step of turn.steps) {
    if (step.kind !== "wait") continue;
    const [from, to] = [step.from, step.to ?? end];
    const before = found.at(-1);
    if (before && from <= before[1]) before[1] = Math.max(before[1], to);
    else found.push([from, to]);
  }
  return found;
}

export function laneOf(turn: TurnLine, now: number): Lane {
  const end = Math.max(turn.to ?? now, turn.from);
  const waits = pauses(turn, end);
  const waited = waits.reduce((sum, [from, to]) => sum + to - from, 0);
  const worked = Math.max(end - turn.from - waited, 0);
  const most = waited > 0 ? Math.max((DRAWN_SHARE * worked) / waits.length, 1) : 0;
  const drawn = (time: number): number => {
    let at = time - turn.from;
    for (const [from, to] of waits) {
      if (time <= from) break;
      const passed = Math.min(time, to) - from;
      at -= passed - Math.min(most, to - from) * (passed / Math.max(to - from, 1));
    }
    return Math.max(at, 0);
  };
  const whole = Math.max(drawn(end), 1);
  return {
    ...{ waited, worked },
    place: (from, to) => {
      const left = Math.min(drawn(from) / whole, 1);
      return { left, width: Math.max(Math.min(drawn(to) / whole, 1) - left, 0) };
    },
  };
}
