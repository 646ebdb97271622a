// How connections stand, in words; and what can be done about it.

import type { wire } from "@aster/client";
import type { Tone } from "../../ui/badge.tsx";

export type Connection = wire.ConnectionEntry;
export type Server = wire.ServerEntry;

const STATES: Record<string, [string, Tone]> = {
  connected: ["connected", "good"],
  pending_oauth: ["waits for your login", "warn"],
  expired: ["has to be connected again", "warn"],
  failed: ["failed", "bad"],
};

export function stateOf({ status, resting = false }: Connection): [string, Tone] {
  if (resting) return ["resting after failures", "warn"];
  return STATES[status] ?? [status, "plain"];
}

export const LOGINS: Record<Server["auth_method"], string> = {
  none: "No login",
  static: "With a key",
  oauth: "With a login",
};

export const TRANSPORTS: Record<Server["transport"], string> = {
  stdio: "Program on the engine's machine",
  http: "HTTP",
  sse: "HTTP (server-sent events)",
};

/** What the button says that connects it once more. */
export function againWord(
  method: Server["auth_method"],
  { status, resting = false }: Connection,
): string | null {
  if (method === "oauth") return status === "pending_oauth" ? "Log in" : "Log in again";
  if (method === "static") return "Replace the key";
  return status === "connected" && !resting ? null : "Try again";
}

/** Whether a login that was begun has been finished since: the connection is another than it was, and works or says why. */
export function finished(before: Connection, now: Connection): boolean {
  return now.status !== "pending_oauth" && now.updated_at !== before.updated_at;
}

export interface Offered {
  tools: wire.ActionEntry[];
  others: wire.ActionEntry[];
}

/** A server's tools, and the actions its resources and prompts are reached by. */
export function sorted(actions: wire.ActionEntry[]): Offered {
  return {
    tools: actions.filter((action) => action.kind === "tool"),
    others: actions.filter((action) => action.kind !== "tool"),
  };
}
