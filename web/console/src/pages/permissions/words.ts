// Grants, decisions and inputs in words.

import type { wire } from "@aster/client";

export const MODES = {
  default: "asks about what may destroy something",
  plan: "only looks, changes nothing",
  auto: "asks before every change",
  bypass: "never asks, unless a rule does",
} as const;

export const LIFETIMES: readonly (readonly [number, string])[] = [
  [3600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "1 week"],
  [2_592_000, "30 days"],
  [0, "Until it is revoked"],
];

export const THEN = {
  ran: "ran without a question",
  approved: "approved by a person",
  denied: "denied by a person",
  unanswered: "never answered",
} as const;

const SOURCES: Record<string, string> = {
  rule: "a rule of the operator",
  grant: "a grant of yours",
  mode: "the mode",
  judgement: "the engine's own judgement",
  validation: "the input does not fit the tool",
};

/** Where a decision comes from, and which one it was, if it has a name. */
export function sourceOf(decidedBy: string): [string, string] {
  const [kind = "", ...rest] = decidedBy.split(":");
  return [SOURCES[kind] ?? kind, rest.join(":")];
}

const EXAMPLES: Record<string, unknown> = {
  string: "",
  integer: 0,
  number: 0,
  boolean: false,
  array: [],
  object: {},
};

interface Schema {
  properties?: Record<string, { type?: string; default?: unknown; enum?: unknown[] }>;
  required?: string[];
}

/** An input to begin with: what a tool has to be given, empty. */
export function inputOf(tool: wire.ToolEntry | undefined): string {
  const { properties = {}, required = [] } = (tool?.definition.input_schema ?? {}) as Schema;
  const pairs = required.map((name) => {
    const field = properties[name];
    return [name, field?.default ?? field?.enum?.[0] ?? EXAMPLES[field?.type ?? "string"] ?? ""];
  });
  return JSON.stringify(Object.fromEntries(pairs), null, 2);
}

/** The input that was typed, or why it is none. */
export function parsed(text: string): { input: Record<string, unknown> } | { error: string } {
  try {
    const input: unknown = JSON.parse(text || "{}");
    if (typeof input === "object" && input !== null && !Array.isArray(input))
      return { input: input as Record<string, unknown> };
    return { error: "The input is an object: { … }." };
  } catch (error) {
    return { error: `This is not JSON yet: ${(error as Error).message}` };
  }
}

/** How one call's input is told in a line. */
export function inLine(input: Record<string, unknown>): string {
  for (const name of ["command", "path", "url"]) if (typeof input[name] === "string") return input[name];
  return JSON.stringify(input);
}
