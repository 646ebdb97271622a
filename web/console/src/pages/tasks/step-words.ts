// What a step is called and the one thing that says most about it.

import { duration } from "../../lib/words.ts";
import type { ModelStep, Step, WaitStep } from "./steps.ts";

export interface About {
  name: string;
  gist: string;
  failed: boolean;
}

const GIST = [
  "command",
  "path",
  "file_path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
  "question",
  "name",
  "message",
];
const PURPOSES: Record<string, string> = {
  import: "Import",
  plan: "Plan",
  recall: "Recall",
  sampling: "Sampling",
  skill: "Skill",
  summary: "Summary",
  verify: "Check",
};
const ASKED: Record<string, string> = {
  permission: "Waited for permission",
  question: "Waited for an answer",
  budget: "Waited for a budget",
  login: "Waited for a login",
  in_doubt: "Waited for a decision",
  client_tool: "Waited for the client",
  elicitation: "Waited for an answer",
};

function gistOf(input: Record<string, unknown>): string {
  for (const name of GIST) {
    const value = input[name];
    if (typeof value === "string" && value) return value;
  }
  return "";
}

function ofModel(step: ModelStep): About {
  const name = step.purpose === "step" ? `Model call ${step.step}` : (PURPOSES[step.purpose] ?? step.purpose);
  if (step.discarded) return { name, gist: `taken back (${step.discarded})`, failed: true };
  if (step.usage === null && step.to !== null) return { name, gist: "brought no answer", failed: true };
  const texts = step.blocks.map((block) => (block.type === "tool_use" ? `→ ${block.name}` : block.text));
  return { name, gist: texts.filter(Boolean).at(-1) ?? step.model, failed: false };
}

function ofWait(step: WaitStep): About {
  const name = ASKED[step.request.kind] ?? "Waited for a person";
  const answered = step.answer === null ? "" : ` → ${step.answer}`;
  return { name, gist: step.request.question + answered, failed: false };
}

export function about(step: Step): About {
  switch (step.kind) {
    case "model":
      return ofModel(step);
    case "tool":
      return {
        name: step.attempt > 1 ? `${step.tool} (attempt ${step.attempt})` : step.tool,
        ...{ gist: gistOf(step.input), failed: Boolean(step.result?.error) },
      };
    case "wait":
      return ofWait(step);
    case "agent":
      return { name: step.agent, gist: step.description, failed: step.status === "errored" };
    default:
      return { name: duration(0), gist: step.text, failed: step.tone === "bad" };
  }
}
