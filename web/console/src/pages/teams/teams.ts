// The team routes by name, where teams are shown, and the words and colours for how their members stand.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Team = wire.TeamSheet;
export type Member = wire.MemberAnswer;
export type Mail = wire.LetterAnswer;
export type Request = wire.TeamRequestAnswer;

export interface MemberDraft {
  name: string;
  role: string;
  prompt: string;
  require_plan: boolean;
}

const path = (id: string, more = ""): string => `/teams/${encodeURIComponent(id)}${more}`;
const member = (id: string, name: string, more: string): string =>
  path(id, `/members/${encodeURIComponent(name)}${more}`);
export const teamOf = (id: string): string => `/teams/${encodeURIComponent(id)}`;

const MAIL_SHOWN = 100;

export const teams = {
  list: () => engine.get<wire.TeamPage>("/teams"),
  found: (id: string) => engine.get<Team>(path(id)),
  create: (name: string, board: string, members: MemberDraft[]) =>
    engine.post<Team>("/teams", { ...(name && { name }), ...(board && { board }), members }),
  mail: (id: string, name: string) =>
    engine.get<wire.LetterPage>(path(id, "/mail"), { name: name || null, limit: MAIL_SHOWN }),
  say: (id: string, to: string, content: string) => engine.post<unknown>(path(id, "/mail"), { to, content }),
  requests: (id: string) =>
    engine.get<wire.TeamRequestPage>(path(id, "/requests"), { kind: "plan_approval" }),
  answer: (id: string, request: string, approve: boolean, feedback: string) =>
    engine.post<Request>(path(id, `/requests/${encodeURIComponent(request)}/answer`), {
      approve,
      ...(feedback && { feedback }),
    }),
  stop: (id: string) => engine.post<Team>(path(id, "/stop")),
  stopMember: (id: string, name: string) => engine.post<Team>(member(id, name, "/stop")),
  askToStop: (id: string, name: string) => engine.post<unknown>(member(id, name, "/shutdown")),
  askForPlan: (id: string, name: string) => engine.post<unknown>(member(id, name, "/plan")),
};

export const STATUSES: Record<Member["status"], readonly [words: string, tone: Tone]> = {
  working: ["works", "info"],
  idle: ["idle", "plain"],
  waiting_approval: ["waits for approval", "warn"],
  stopping: ["is about to stop", "warn"],
  stopped: ["stopped", "plain"],
  failed: ["failed", "bad"],
};

export const over = ({ status }: Pick<Member, "status">): boolean => status === "stopped";
