// Which events fit, and what is shown of one in a line.

import type { AsterEvent } from "@aster/client";

const GIST_CHARS = 240;
const FRAME = new Set(["type", "task_id", "turn_id", "seq", "timestamp"]);
const texts = new WeakMap<AsterEvent, string>();

function textOf(event: AsterEvent): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = JSON.stringify(event).toLowerCase();
    texts.set(event, text);
  }
  return text;
}

/** The kinds of the events with how many there are of each, by name. */
export function counted(events: readonly AsterEvent[]): [string, number][] {
  const found = new Map<string, number>();
  for (const { type } of events) found.set(type, (found.get(type) ?? 0) + 1);
  return [...found].sort(([one], [other]) => one.localeCompare(other));
}

export function filtered(events: readonly AsterEvent[], type: string, words: string): AsterEvent[] {
  const wanted = words.trim().toLowerCase();
  return events.filter(
    (event) => (!type || event.type === type) && (!wanted || textOf(event).includes(wanted)),
  );
}

export function gist(event: AsterEvent): string {
  const said: string[] = [];
  for (const [name, value] of Object.entries(event)) {
    if (FRAME.has(name) || value === null) continue;
    said.push(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  }
  return said.join("  ").slice(0, GIST_CHARS);
}
