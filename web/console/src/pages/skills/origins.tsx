// Who wrote a skill and how it stands, in words.

import type { wire } from "@aster/client";
import { Badge, type Tone } from "../../ui/badge.tsx";

const ORIGINS: Record<wire.SkillEntry["origin"], [string, Tone]> = {
  platform: ["platform", "plain"],
  operator: ["operator", "plain"],
  custom: ["yours", "accent"],
  acquired: ["code by your agent", "info"],
  composed: ["calls by your agent", "info"],
  workspace: ["workspace", "plain"],
};

const STATES: Record<string, [string, Tone]> = {
  active: ["active", "good"],
  approved: ["approved", "good"],
  degraded: ["degraded", "warn"],
  retired: ["retired", "bad"],
  proposed: ["waits for your approval", "warn"],
};

export function Marks({ skill }: { skill: wire.SkillEntry }) {
  const [origin, tone] = ORIGINS[skill.origin];
  const [state, color] = STATES[skill.status ?? ""] ?? ["", "plain"];
  return (
    <>
      <Badge tone={tone}>{origin}</Badge>
      {state ? <Badge tone={color as Tone}>{state}</Badge> : null}
    </>
  );
}

export const WHOSE = [
  ["", "All"],
  ["custom", "Yours"],
  ["agent", "Your agent's"],
  ["platform", "Everybody's"],
] as const;
export type Whose = (typeof WHOSE)[number][0];

const BY_AGENT = new Set(["acquired", "composed"]);

function isOf(whose: Whose, { origin }: wire.SkillEntry): boolean {
  if (whose === "agent") return BY_AGENT.has(origin);
  if (whose === "custom") return origin === "custom";
  return whose === "" || !(BY_AGENT.has(origin) || origin === "custom");
}

/** The skills that fit; those that wait for somebody stand first. */
export function chosen(skills: wire.SkillEntry[], whose: Whose, search: string): wire.SkillEntry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, description, category }: wire.SkillEntry) => {
    const text = `${name} ${description} ${category}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = skills.filter((skill) => isOf(whose, skill) && fits(skill));
  const waits = (skill: wire.SkillEntry) => Number(skill.status === "proposed");
  return found.sort((a, b) => waits(b) - waits(a) || a.name.localeCompare(b.name));
}
