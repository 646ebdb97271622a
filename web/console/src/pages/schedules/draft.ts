// A schedule as somebody fills it in, and as it is sent: only what its kind needs.

import type { Schedule } from "./schedules.ts";

export type Kind = "cron" | "interval" | "once" | "watch";

export interface Draft {
  name: string;
  prompt: string;
  kind: Kind;
  cron: string;
  zone: string;
  many: number;
  unit: number;
  /** As the browser's field for a moment has it: the time on the clocks here. */
  at: string;
  url: string;
  command: string;
  task: string;
  agent: string;
  catchUp: Schedule["catch_up"];
  maxRuns: string;
  jitter: boolean;
}

export const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [1, "seconds"],
  [60, "minutes"],
  [3600, "hours"],
  [86_400, "days"],
];

const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export const blank = (): Draft => ({
  ...{ name: "", prompt: "", kind: "cron", cron: "0 9 * * mon-fri", zone: here(), many: 1, unit: 3600 },
  ...{ at: "", url: "", command: "", task: "", agent: "", catchUp: "latest", maxRuns: "", jitter: false },
});

/** The moment as a field shows it: the clocks here, without their zone. */
function local(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What is to be changed of a schedule that is there. */
export function draftOf(schedule: Schedule): Draft {
  const { trigger } = schedule;
  const text = (name: string) => String(trigger[name] ?? "");
  const seconds = Number(trigger.seconds ?? trigger.every_seconds ?? 3600);
  const unit = UNITS.findLast(([size]) => seconds % size === 0)?.[0] ?? 1;
  return {
    ...blank(),
    ...{ name: schedule.name, prompt: schedule.prompt, kind: schedule.kind, many: seconds / unit, unit },
    ...(text("cron") && { cron: text("cron"), zone: text("time_zone") }),
    ...(schedule.kind === "once" && { at: local(text("at")) }),
    ...{
      url: text("url"),
      command: text("command"),
      task: schedule.task_id ?? "",
      agent: schedule.agent ?? "",
    },
    ...{ catchUp: schedule.catch_up, jitter: schedule.jitter, maxRuns: String(schedule.max_runs ?? "") },
  };
}

/** When it is due, as the engine takes it; null while something is missing. */
export function dueOf(draft: Draft): Record<string, unknown> | null {
  const seconds = draft.many * draft.unit;
  switch (draft.kind) {
    case "cron":
      return draft.cron.trim() ? { cron: draft.cron.trim(), time_zone: draft.zone.trim() || null } : null;
    case "interval":
      return seconds > 0 ? { every_seconds: seconds } : null;
    case "once":
      return draft.at ? { at: new Date(draft.at).toISOString() } : null;
    default: {
      const what = draft.url.trim() ? { url: draft.url.trim() } : { command: draft.command.trim() };
      if (!Object.values(what)[0] || seconds <= 0) return null;
      return { watch: { ...what, every_seconds: seconds } };
    }
  }
}

/** The whole of it; null while something is missing. */
export function bodyOf(draft: Draft): Record<string, unknown> | null {
  const due = dueOf(draft);
  if (due === null || draft.prompt.trim() === "") return null;
  return {
    ...due,
    ...{ prompt: draft.prompt, name: draft.name.trim(), agent: draft.agent.trim() || null },
    ...{ task_id: draft.task.trim() || null, catch_up: draft.catchUp, jitter: draft.jitter },
    max_runs: draft.maxRuns === "" ? null : Number(draft.maxRuns),
  };
}

/** What a change says: the times only where they are others, so that times that wait are not skipped for nothing. */
export function changeOf(draft: Draft, was: Schedule): Record<string, unknown> | null {
  const body = bodyOf(draft);
  if (body === null) return null;
  const { cron, time_zone, every_seconds, at, watch, task_id: _, ...rest } = body;
  const given = { cron, time_zone, every_seconds, at, watch };
  const due = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const same = JSON.stringify(dueOf(draftOf(was))) === JSON.stringify(dueOf(draft));
  return same ? rest : { ...rest, ...due };
}
