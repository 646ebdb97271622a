// A skill as the text it is passed around as: a head between `---` lines, then the instructions. Only the plain lines of a
// head are read here (`name: words`, lists in brackets or by spaces); the engine judges what comes of them.

import type { wire } from "@aster/client";

export interface Draft {
  name: string;
  description: string;
  category: string;
  capabilities: string[];
  prompt: string;
  scripts: Record<string, string>;
}

export const BLANK: Draft = {
  name: "",
  description: "",
  category: "",
  capabilities: [],
  prompt: "",
  scripts: {},
};

const HEAD = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const LINE = /^([A-Za-z][\w-]*):[ \t]*(.*)$/;
const QUOTED = /^(["'])(.*)\1$/;

const unquoted = (text: string): string => QUOTED.exec(text.trim())?.[2] ?? text.trim();

function listed(text: string): string[] {
  const inner = text.trim().replace(/^\[(.*)\]$/, "$1");
  return inner
    .split(/[\s,]+/)
    .map(unquoted)
    .filter(Boolean);
}

/** What a SKILL.md says; null when it has no head. */
export function fromText(text: string): Partial<Draft> | null {
  const head = HEAD.exec(text);
  if (head === null) return null;
  const found: Partial<Draft> = { prompt: text.slice(head[0].length).trimStart() };
  for (const line of (head[1] ?? "").split(/\r?\n/)) {
    const [, key = "", value = ""] = LINE.exec(line) ?? [];
    if (key === "name" || key === "description" || key === "category") found[key] = unquoted(value);
    if (key === "capabilities") found.capabilities = listed(value);
  }
  return found;
}

/** A draft as a SKILL.md. */
export function toText({ name, description, category, capabilities, prompt }: Draft): string {
  const head = [
    `name: ${name}`,
    description && `description: ${description}`,
    category && `category: ${category}`,
    capabilities.length && `capabilities: [${capabilities.join(", ")}]`,
  ].filter(Boolean);
  return `---\n${head.join("\n")}\n---\n${prompt}\n`;
}

export function draftOf(skill: wire.SkillAnswer): Draft {
  const { name, description, category, capabilities, prompt_template: prompt, scripts } = skill;
  return { name, description, category, capabilities, prompt, scripts };
}
