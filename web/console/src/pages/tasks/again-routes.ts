// Running a recorded turn again: the routes of it, and where it is in the console.

import type { wire } from "@aster/client";
import { taskOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";

export type Report = wire.ReportAnswer;
export type Wish = Omit<wire.ReplayBody, "wait" | "replay_task_id">;

const path = (taskId: string, more: string): string => `/tasks/${encodeURIComponent(taskId)}/${more}`;
const reportPath = (taskId: string, replayId: string): string =>
  path(taskId, `replays/${encodeURIComponent(replayId)}`);

/** Where a turn is run again from a place on, and where the report of a replay is. */
export const againFrom = (taskId: string, seq: number): string => `${taskOf(taskId, "again")}?seq=${seq}`;
export const reportOf = (taskId: string, replayId: string, seq: number | null = null): string =>
  `${taskOf(taskId, "again")}?${seq === null ? "" : `seq=${seq}&`}replay=${encodeURIComponent(replayId)}`;

export const replays = {
  begin: (taskId: string, wish: Wish) =>
    engine.post<wire.ReplayBegun>(path(taskId, "replay"), { ...wish, wait: false }),
  list: (taskId: string) => engine.get<wire.ReplayList>(path(taskId, "replays")),
  report: (taskId: string, replayId: string, wait: boolean) =>
    engine.get<Report>(reportPath(taskId, replayId), { wait }),
};
