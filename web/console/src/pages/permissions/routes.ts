// What this page asks of the engine.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";

export type Grant = wire.Grant;
export type Proposal = Pick<wire.GrantBody, "tool" | "pattern" | "behavior" | "task_id">;

export interface Known {
  inForce: wire.InForce;
  tools: wire.ToolEntry[];
}

export async function known(): Promise<Known> {
  const [inForce, { tools }] = await Promise.all([
    engine.get<wire.InForce>("/permissions"),
    engine.get<wire.ToolList>("/tools"),
  ]);
  return { inForce, tools };
}

export const grant = (body: wire.GrantBody) => engine.post<Grant>("/permissions", body);
export const revoke = (id: string) =>
  engine.transport.json<wire.Revoked>("DELETE", `/permissions/${encodeURIComponent(id)}`);
export const tryCall = (body: wire.TestBody) => engine.post<wire.DecisionAnswer>("/permissions/test", body);
export const backtest = (body: wire.BacktestBody) =>
  engine.post<wire.BacktestAnswer>("/permissions/backtest", body);
