// The learning routes by name, where the pages of what was learned are, and the words and colours for how it stands.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import type { Tone } from "../../ui/badge.tsx";
import type { Kept } from "../memory/memory.ts";

export type Changeset = wire.ChangesetAnswer;
export type Change = Changeset["items"][number];
export type Trial = wire.TrialAnswer;
export type Entry = wire.EntryAnswer;
export type Learned = Omit<wire.LearnedAnswer, "record"> & { record: Kept };
export type Decision = "accept" | "reject" | "revert";

const changesetPath = (id: string, more = "") => `/learning/changesets/${encodeURIComponent(id)}${more}`;
const trialPath = (id: string) => `/learning/trials/${encodeURIComponent(id)}`;

/** The pages of a changeset and of a trial. */
export const changesetOf = (id: string): string => `/learning/changes/${encodeURIComponent(id)}`;
export const trialOf = trialPath;

export const learning = {
  status: () => engine.get<wire.LearningStatus>("/learning"),
  run: (works: string[]) => engine.post<wire.RunsAnswer>("/learning/run", { works }),
  changesets: (query: {
    status?: Changeset["status"] | null;
    kind?: Changeset["kind"] | null;
    night?: string;
    limit?: number;
    before?: number | null;
  }) => engine.get<wire.ChangesetPage>("/learning/changesets", query),
  changeset: (id: string) => engine.get<Changeset>(changesetPath(id)),
  decide: (id: string, decision: Decision, places: number[]) =>
    engine.post<Changeset>(changesetPath(id, `/${decision}`), { places }),
  revertNight: (night: string) => engine.post<wire.RevertedAnswer>("/learning/revert", { night }),
  learned: (before: number | null) => engine.get<wire.LearnedPage>("/learning/learned", { before }),
  trials: (status: Trial["status"] | null, before: number | null) =>
    engine.get<wire.TrialPage>("/learning/trials", { status, before }),
  trial: (id: string) => engine.get<Trial>(trialPath(id)),
  utility: (days: number) => engine.get<wire.UtilityAnswer>("/learning/utility", { days }),
  journal: (state: Entry["state"] | null, before: number | null) =>
    engine.get<wire.EntryPage>("/learning/journal", { state, before }),
  selfPlay: () => engine.get<wire.SelfPlayAnswer>("/learning/self-play"),
  play: (cluster: wire.PlayBody["cluster"]) =>
    engine.post<wire.RunsAnswer>("/learning/self-play", { cluster, cycles: 1 }),
  stopPlay: () => engine.post<wire.PlayStopped>("/learning/self-play/stop"),
  requeue: (number: number) => engine.post<null>(`/learning/journal/${number}/requeue`),
};

type Word = readonly [words: string, tone: Tone];

export const KINDS: Record<Changeset["kind"], string> = {
  batch: "Conversations",
  dream: "Dream",
  trial: "Trial",
  skills: "Skills",
  self_play: "Self-play",
  feedback: "Your words",
};

export const STATUSES: Record<Changeset["status"] | Change["status"], Word> = {
  proposed: ["waits for you", "warn"],
  applied: ["applied", "good"],
  refused: ["refused", "bad"],
  rejected: ["rejected", "plain"],
  reverted: ["reverted", "plain"],
  kept: ["kept", "info"],
  empty: ["nothing to learn", "plain"],
};

export const VERDICTS: Record<Trial["status"], Word> = {
  waiting: ["waiting", "plain"],
  running: ["on trial", "info"],
  promoted: ["promoted", "good"],
  retired: ["retired", "bad"],
  undecided: ["undecided", "warn"],
};

export const OUTCOMES: Record<string, Word> = {
  ...STATUSES,
  nothing: ["nothing to do", "plain"],
  deferred: ["goes on later", "warn"],
  failed: ["failed", "bad"],
};

export const ACTIONS: Record<Change["action"], string> = {
  write: "Learned",
  merge: "Merged",
  retire: "Let go",
  trial: "On trial",
  skill: "Skill",
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a trial is about: when it applies, and what is to be done then. */
export function saying({ fields }: Pick<Trial, "fields">): { when: string; what: string } {
  const what = text(fields.correct_pattern) || text(fields.content) || text(fields.text) || text(fields.name);
  return { when: text(fields.trigger), what };
}

export const signed = (value: number): string => `${value > 0 ? "+" : ""}${value.toFixed(2)}`;
