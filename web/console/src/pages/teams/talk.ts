// Mail of a team as a conversation: oldest first, and what went to several at once is said once.

import { MAIL } from "../../thread/work-folds.ts";
import type { Mail } from "./teams.ts";

export interface Said {
  id: string;
  sender: string;
  recipients: string[];
  type: string;
  badge: string;
  content: string;
  at: string;
  /** How many of those it is for have heard it. */
  heard: number;
}

const TOGETHER_MS = 1000;

/** Whether two messages are one that went to several. */
const same = (said: Said, mail: Mail): boolean =>
  said.sender === mail.sender &&
  said.type === mail.type &&
  said.content === mail.content &&
  Math.abs(Date.parse(said.at) - Date.parse(mail.created_at)) < TOGETHER_MS;

export function talk(mail: readonly Mail[]): Said[] {
  const told: Said[] = [];
  for (const one of mail.toSorted((a, b) => a.number - b.number)) {
    const before = told.at(-1);
    const heard = one.acked_at ? 1 : 0;
    if (before && same(before, one) && !before.recipients.includes(one.recipient)) {
      before.recipients.push(one.recipient);
      before.heard += heard;
    } else {
      told.push({
        ...{ id: one.message_id, sender: one.sender, recipients: [one.recipient], type: one.type },
        ...{
          badge: one.type === "broadcast" ? "" : (MAIL[one.type] ?? one.type),
          content: one.content,
          at: one.created_at,
          heard,
        },
      });
    }
  }
  return told;
}

const TONES = ["a", "b", "c", "d", "e"] as const;

/** The colour of a member, by its place in the team; whoever is not a member has the one that is left. */
export function toneOf(name: string, members: readonly string[]): (typeof TONES)[number] | "other" {
  const place = members.indexOf(name);
  return place < 0 ? "other" : (TONES[place % TONES.length] ?? "other");
}
