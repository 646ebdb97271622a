// The schedule routes by name, where they are shown, and when something is due, in words.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import { beginning, exactly, plural } from "../../lib/words.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Schedule = wire.ScheduleAnswer;
export type Occurrence = wire.OccurrenceAnswer;
export type Preview = { coming: string[]; time_zone: string | null };

const path = (id: string, more = ""): string => `/schedules/${encodeURIComponent(id)}${more}`;
export const scheduleOf = path;

export const schedules = {
  list: (before: number | null) => engine.get<wire.SchedulePage>("/schedules", { before }),
  found: (id: string) => engine.get<Schedule>(path(id)),
  occurrences: (id: string, before: number | null, status: string) =>
    engine.get<wire.OccurrencePage>(path(id, "/occurrences"), { before, status: status || null }),
  create: (body: unknown) => engine.post<Schedule>("/schedules", body),
  edit: (id: string, body: unknown) => engine.transport.json<Schedule>("PATCH", path(id), { body }),
  preview: (body: unknown) => engine.post<Preview>("/schedules/preview", body),
  pause: (id: string) => engine.post<Schedule>(path(id, "/pause")),
  resume: (id: string) => engine.post<Schedule>(path(id, "/resume")),
  run: (id: string) => engine.post<Occurrence>(path(id, "/run")),
  cancel: (id: string) => engine.transport.json<Schedule>("DELETE", path(id)),
};

export const STATUSES: Record<Schedule["status"], Tone> = {
  active: "good",
  paused: "warn",
  ended: "plain",
  cancelled: "plain",
};

export const TIMES: Record<Occurrence["status"], readonly [words: string, tone: Tone]> = {
  due: ["due", "info"],
  deferred: ["put off", "warn"],
  delivered: ["begun", "info"],
  acknowledged: ["done", "good"],
  missed: ["missed", "bad"],
  skipped: ["skipped", "plain"],
  failed: ["failed", "bad"],
};

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** Every so many seconds, in the largest unit that says it whole. */
export function every(seconds: number): string {
  const [size, name] = UNITS.find(([unit]) => seconds % unit === 0) ?? [1, "second"];
  const many = seconds / size;
  return many === 1 ? `every ${name}` : `every ${plural(many, name)}`;
}

const field = (trigger: Schedule["trigger"], name: string): string => String(trigger[name] ?? "");

function watchWords(trigger: Schedule["trigger"]): string {
  if (!trigger.url) return `${field(trigger, "command")} succeeds`;
  const status = trigger.status ? ` with ${field(trigger, "status")}` : "";
  return `${field(trigger, "url")} answers${status}`;
}

/** When it is due, as people say it; a cron expression stays as it was written. */
export function dueWords({ kind, trigger }: Pick<Schedule, "kind" | "trigger">): string {
  const seconds = Number(trigger.seconds ?? trigger.every_seconds ?? 0);
  switch (kind) {
    case "cron":
      return `${field(trigger, "cron")} (${field(trigger, "time_zone")})`;
    case "interval":
      return every(seconds);
    case "once":
      return `once, ${exactly(field(trigger, "at"))}`;
    default:
      return `when ${watchWords(trigger)}, looked at ${every(seconds)}`;
  }
}

export const nameOf = ({ name, prompt }: Pick<Schedule, "name" | "prompt">): string =>
  name || beginning(prompt.split("\n")[0] ?? "", 80) || "Schedule";

/** Whether it is over for good. */
export const over = ({ status }: Pick<Schedule, "status">): boolean =>
  status === "ended" || status === "cancelled";
