import { Badge, type Tone } from "./badge.tsx";

export type Behavior = "allow" | "ask" | "deny";

export const BEHAVIORS: readonly (readonly [Behavior, string])[] = [
  ["allow", "Allow"],
  ["ask", "Ask"],
  ["deny", "Deny"],
];

const DECISIONS: Record<Behavior, [string, Tone]> = {
  allow: ["allowed", "good"],
  ask: ["asks", "warn"],
  deny: ["denied", "bad"],
};

/** What happens with a call, in a word and a colour. */
export function Decision({ behavior }: { behavior: Behavior }) {
  const [words, tone] = DECISIONS[behavior];
  return <Badge tone={tone}>{words}</Badge>;
}
