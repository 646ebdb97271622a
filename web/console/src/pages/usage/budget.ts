// Budgets as the routes have them: the calls, their names, and how much of one is spent.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";

const path = (scope: string) => `/usage/budgets/${encodeURIComponent(scope)}`;

export const budgets = {
  list: () => engine.get<wire.BudgetList>("/usage/budgets"),
  put: (scope: string, limit: number) =>
    engine.transport.json<wire.Budget>("PUT", path(scope), { body: { limit_usd: limit } }),
  drop: (scope: string) => engine.transport.json<wire.DroppedBudget>("DELETE", path(scope)),
};

export const scopeName = (scope: string): string =>
  scope === "user" ? "Each day" : `Task ${scope.replace(/^task:/, "")}`;

/** How much of the limit is spent; 1 is all of it. */
export const share = ({ limit_usd, spent_usd }: wire.Budget): number =>
  limit_usd === null ? 0 : limit_usd === 0 ? 1 : spent_usd / limit_usd;
