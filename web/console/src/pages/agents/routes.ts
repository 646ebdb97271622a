// What this page asks of the engine.

import type { wire } from "@aster/client";
import { about } from "../../lib/about.ts";
import { engine } from "../../lib/engine.ts";

export type Agent = wire.AgentEntry;

const at = (name: string) => `/agents/${encodeURIComponent(name)}`;

export const agents = async () => (await engine.get<wire.AgentList>("/agents")).agents;
export const keep = (name: string, body: wire.AgentBody) =>
  engine.transport.json<Agent>("PUT", at(name), { body });
export const remove = (name: string) => engine.transport.json<null>("DELETE", at(name));

/** What an agent can be made of. */
export interface Parts {
  models: string[];
  usual: string;
  tools: string[];
  skills: string[];
}

export async function parts(): Promise<Parts> {
  const [facts, { tools }, { skills }] = await Promise.all([
    about(),
    engine.get<wire.ToolList>("/tools"),
    engine.get<wire.SkillList>("/skills"),
  ]);
  return {
    models: facts.allowed_models,
    usual: facts.model,
    tools: tools.map((tool) => tool.definition.name),
    skills: skills.map((skill) => skill.name),
  };
}
