// What this page asks of the engine.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import type { Draft } from "./skill-text.ts";

const at = (name: string) => `/skills/${encodeURIComponent(name)}`;

export const skills = async () => (await engine.get<wire.SkillList>("/skills")).skills;
export const skill = (name: string) => engine.get<wire.SkillAnswer>(at(name));
export const approve = (name: string) => engine.post<wire.SkillAnswer>(`${at(name)}/approve`);
export const remove = (name: string) => engine.transport.json<wire.SkillDeleted>("DELETE", at(name));
export const create = (draft: Draft) => engine.post<wire.SkillAnswer>("/skills/create", draft);
export const change = ({ name, ...body }: Draft) =>
  engine.transport.json<wire.SkillAnswer>("PUT", at(name), { body });
