// The project routes by name, where projects are shown, and the words and colours for how they stand.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import { count, duration, money } from "../../lib/words.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Project = wire.ProjectAnswer;
export type Summary = wire.ProjectSummary;
export type Step = wire.ProjectItemAnswer;
export type Artifact = wire.ProjectArtifactAnswer;
export type Happening = wire.ProjectEventAnswer;

const path = (id: string, more = ""): string => `/projects/${encodeURIComponent(id)}${more}`;
export const projectOf = (id: string, view = ""): string =>
  `/projects/${encodeURIComponent(id)}${view ? `/${view}` : ""}`;

export const projects = {
  list: () => engine.get<wire.ProjectPage>("/projects", { limit: 200 }),
  found: (id: string) => engine.get<Project>(path(id)),
  create: (body: wire.ProjectBody) => engine.post<Project>("/projects", body),
  edit: (id: string, body: wire.ProjectEditBody) =>
    engine.transport.json<Project>("PATCH", path(id), { body }),
  archive: (id: string) => engine.transport.json<Project>("DELETE", path(id)),
  pause: (id: string) => engine.post<Project>(path(id, "/pause"), { now: true }),
  resume: (id: string, answer: string | null) => engine.post<Project>(path(id, "/resume"), { answer }),
  advance: (id: string, until: "step" | "blocked") =>
    engine.post<wire.AdvanceAnswer>(path(id, "/advance"), { until }),
  steps: (id: string) => engine.get<wire.ProjectTree>(path(id, "/items")),
  addStep: (id: string, subject: string, parent: string | null) =>
    engine.post<unknown>(path(id, "/items"), { items: [{ subject }], ...(parent && { parent_id: parent }) }),
  artifacts: (id: string, before: number | null) =>
    engine.get<wire.ProjectArtifactPage>(path(id, "/artifacts"), { before }),
  events: (id: string, before: number | null) =>
    engine.get<wire.ProjectEventPage>(path(id, "/events"), { before }),
};

export const STATUSES: Record<Project["status"], readonly [words: string, tone: Tone]> = {
  ACTIVE: ["active", "good"],
  PAUSED: ["paused", "warn"],
  NEEDS_USER: ["needs you", "warn"],
  DONE: ["done", "info"],
  ARCHIVED: ["archived", "plain"],
};

export interface Spent {
  name: string;
  value: string;
  /** From 0 to 1; null when nothing bounds it. */
  share: number | null;
}

const KINDS: readonly (readonly [keyof wire.BudgetAnswer, string, (value: number) => string])[] = [
  ["steps", "Steps", count],
  ["seconds", "Time", (value) => (value ? duration(value * 1000) : "0 s")],
  ["tool_calls", "Tool calls", count],
  ["usd", "Cost", money],
];

/** What a project has used up, and of how much. */
export function spent({ used, budget }: Pick<Project, "used" | "budget">): Spent[] {
  return KINDS.map(([kind, name, words]) => {
    const [is, most] = [used[kind] ?? 0, budget[kind] ?? null];
    if (most === null) return { name, value: words(is), share: null };
    return { name, value: `${words(is)} of ${words(most)}`, share: most > 0 ? is / most : 1 };
  });
}
