// The work graph's routes by name, where its pages are, and the words and colours for how an item stands.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Item = wire.WorkItemAnswer;
export type Change = wire.Change;
export type Board = wire.Board;
/** How an item stands; whether it is ready or blocked is worked out, and kept nowhere. */
export type State = "blocked" | "ready" | "in_progress" | "completed" | "deleted";

export const MAIN = "main";

const path = (id: string, more = ""): string => `/work/items/${encodeURIComponent(id)}${more}`;

/** What an item may say; only what is to change has to be given. */
export interface Edit {
  subject?: string;
  description?: string;
  role?: string;
  priority?: number;
  add_blocked_by?: string[];
  remove_blocked_by?: string[];
  version?: number;
}

export const work = {
  boards: () => engine.get<wire.BoardList>("/work/boards"),
  items: (query: { board: string; status?: string; ready?: boolean; limit: number }) =>
    engine.get<wire.ItemPage>("/work/items", query),
  item: (id: string) => engine.get<Item>(path(id)),
  history: (id: string, before: number | null) =>
    engine.get<wire.HistoryPage>(path(id, "/history"), { before }),
  create: (board: string, item: Partial<wire.ItemPart> & { subject: string }) =>
    engine.post<wire.ItemsAnswer>("/work/items", { board, items: [item] }),
  edit: (id: string, body: Edit) => engine.transport.json<Item>("PATCH", path(id), { body }),
  claim: (id: string) => engine.post<Item>(path(id, "/claim")),
  complete: (id: string, body: { result: string | null; override: boolean }) =>
    engine.post<wire.CompletedAnswer>(path(id, "/complete"), body),
  release: (id: string, body: { reason: string | null; override: boolean }) =>
    engine.post<Item>(path(id, "/release"), body),
  reopen: (id: string) => engine.post<Item>(path(id, "/reopen")),
  discard: (id: string, override: boolean) =>
    engine.transport.json<Item>("DELETE", path(id), { query: { override } }),
};

/** The page of a board, in one of its views, with an item open. */
export function workOf({
  board = MAIN,
  item,
  view = "",
}: {
  board?: string;
  item?: string;
  view?: string;
}): string {
  const query = new URLSearchParams();
  if (board !== MAIN) query.set("board", board);
  if (item) query.set("item", item);
  const asked = query.toString();
  return `/work${view ? `/${view}` : ""}${asked ? `?${asked}` : ""}`;
}

export function stateOf({ status, ready }: Pick<Item, "status" | "ready">): State {
  if (status !== "pending") return status;
  return ready ? "ready" : "blocked";
}

export const STATES: Record<State, readonly [words: string, tone: Tone]> = {
  blocked: ["blocked", "plain"],
  ready: ["ready", "accent"],
  in_progress: ["in progress", "info"],
  completed: ["done", "good"],
  deleted: ["deleted", "bad"],
};
