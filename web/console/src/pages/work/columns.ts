// A board read as its columns: each most urgent first, as much of it as is asked for, with how much there is in all.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import { useLive } from "../../lib/live.ts";
import { type Loaded, useLoaded } from "../../lib/loaded.ts";
import { type Board, type Item, type State, work } from "./work.ts";

export type Column = Exclude<State, "deleted">;
export const COLUMNS: readonly (readonly [Column, string])[] = [
  ["blocked", "Blocked"],
  ["ready", "Ready"],
  ["in_progress", "In progress"],
  ["completed", "Done"],
];
/** As much of a column as one request gives. */
export const MOST = 200;
export const FEW = 50;

const ASKED: Record<Column, { status: string; ready?: boolean }> = {
  blocked: { status: "pending", ready: false },
  ready: { status: "pending", ready: true },
  in_progress: { status: "in_progress" },
  completed: { status: "completed" },
};

export type Columns = Record<Column, Item[]>;

async function read(board: string, limit: number): Promise<Columns> {
  const pages = await Promise.all(
    COLUMNS.map(
      async ([name]) => [name, (await work.items({ board, limit, ...ASKED[name] })).items] as const,
    ),
  );
  return Object.fromEntries(pages) as Columns;
}

/** Read at once when somebody here has changed something (`changes` grows), else every few seconds. */
export const useColumns = (board: string, limit: number, changes: number): Loaded<Columns> =>
  useLive(() => read(board, limit), [board, limit, changes]);

export const useBoards = (changes: number): Loaded<Board[]> =>
  useLive(async () => (await work.boards()).boards, [changes]);

/** What there is to choose from when something is to be waited for. */
export const useChoice = (board: string): Loaded<Item[]> =>
  useLoaded(async () => (await work.items({ board, status: "open", limit: MOST })).items, [board]);

/** How many items a column has in all. */
export function sizeOf(column: Column, board: Board | undefined): number {
  if (board === undefined) return 0;
  if (column === "blocked") return board.pending - board.ready;
  return board[column];
}

/** What boards of teams and projects are called; any other is called what it is. */
export function useBoardNames(): ReadonlyMap<string, string> {
  const loaded = useLoaded(async () => {
    const [teams, projects] = await Promise.all([
      engine.get<wire.TeamPage>("/teams", { limit: MOST }),
      engine.get<wire.ProjectPage>("/projects", { limit: MOST }),
    ]);
    return new Map([
      ...teams.teams.map(({ team_id, name }) => [`team/${team_id}`, `Team ${name}`] as const),
      ...projects.projects.map(({ project_id, title }) => [`project/${project_id}`, title] as const),
    ]);
  }, []);
  return loaded.value ?? new Map();
}
