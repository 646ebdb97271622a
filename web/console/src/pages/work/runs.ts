// The workflow routes by name, where runs are shown, and arguments as they are typed.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import type { Tone } from "../../ui/badge.tsx";

export type Run = wire.WorkflowRunAnswer;
export type Call = wire.CallAnswer;
export type Args = Record<string, unknown>;

const path = (id: string, more = ""): string => `/workflows/runs/${encodeURIComponent(id)}${more}`;
export const runOf = (id: string): string => `/work/workflows/${encodeURIComponent(id)}`;

export const workflows = {
  list: () => engine.get<wire.WorkflowList>("/workflows"),
  run: (name: string, args: Args) =>
    engine.post<Run>(`/workflows/${encodeURIComponent(name)}/runs`, { args }),
  runs: () => engine.get<wire.RunList>("/workflows/runs"),
  found: (id: string) => engine.get<Run>(path(id)),
  resume: (id: string) => engine.post<Run>(path(id, "/resume")),
  cancel: (id: string) => engine.post<Run>(path(id, "/cancel")),
};

export const RUNS: Record<Run["status"], Tone> = {
  running: "info",
  completed: "good",
  failed: "bad",
  cancelled: "plain",
  interrupted: "warn",
};

export const CALLS: Record<Call["status"], Tone> = { running: "info", completed: "good", failed: "bad" };

/** What was typed, as arguments; or what is wrong with it. */
export function argsIn(typed: string): { args: Args | null; problem: string | null } {
  if (typed.trim() === "") return { args: {}, problem: null };
  try {
    const value: unknown = JSON.parse(typed);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { args: value as Args, problem: null };
    }
    return { args: null, problem: "Write an object: { … }." };
  } catch {
    return { args: null, problem: "This is not JSON yet." };
  }
}

const EMPTY: Record<string, unknown> = {
  string: "",
  array: [],
  object: {},
  number: 0,
  integer: 0,
  boolean: false,
};

/** Arguments to begin with: every name the schema asks for, with something of its type. */
export function exampleOf(schema: Record<string, unknown>): string {
  const properties = (schema.properties ?? {}) as Record<string, { type?: string; default?: unknown }>;
  const example = Object.fromEntries(
    Object.entries(properties).map(([name, of]) => [name, of.default ?? EMPTY[of.type ?? "string"] ?? null]),
  );
  return JSON.stringify(example, null, 2);
}

/** The calls of a run by phase, in the order in which phases were met. */
export function phases(calls: readonly Call[]): [phase: string, calls: Call[]][] {
  const found = new Map<string, Call[]>();
  for (const call of calls) found.set(call.phase, [...(found.get(call.phase) ?? []), call]);
  return [...found];
}
