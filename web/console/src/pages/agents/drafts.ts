// An agent while it is being written, and what is sent of it.

import type { wire } from "@aster/client";
import type { Agent } from "./routes.ts";

export type Mode = NonNullable<wire.AgentBody["permission_mode"]>;

export interface Draft {
  name: string;
  description: string;
  prompt: string;
  model: string;
  /** Whether it may call `tools` alone. */
  narrowed: boolean;
  tools: string[];
  without: string[];
  mode: Mode | "";
  calls: string;
  skills: string[];
}

export const BLANK: Draft = {
  name: "",
  description: "",
  prompt: "",
  model: "",
  narrowed: false,
  tools: [],
  without: [],
  mode: "",
  calls: "",
  skills: [],
};

export function draftOf(agent: Agent): Draft {
  return {
    name: agent.name,
    description: agent.description,
    prompt: agent.system_prompt,
    model: agent.model ?? "",
    narrowed: Boolean(agent.tools),
    tools: agent.tools ?? [],
    without: agent.disallowed_tools ?? [],
    mode: agent.permission_mode ?? "",
    calls: agent.max_turns ? String(agent.max_turns) : "",
    skills: agent.skills ?? [],
  };
}

/** One of somebody else's as the beginning of one's own, under a name that is free. */
export function copyOf(agent: Agent, taken: readonly string[]): Draft {
  let name = `my-${agent.name}`;
  for (let n = 2; taken.includes(name); n += 1) name = `my-${agent.name}-${n}`;
  return { ...draftOf(agent), name };
}

export function bodyOf(draft: Draft): wire.AgentBody {
  return {
    description: draft.description.trim(),
    system_prompt: draft.prompt,
    model: draft.model || null,
    tools: draft.narrowed ? draft.tools : null,
    disallowed_tools: draft.without,
    permission_mode: draft.mode || null,
    max_turns: draft.calls ? Number(draft.calls) : null,
    skills: draft.skills,
  };
}
