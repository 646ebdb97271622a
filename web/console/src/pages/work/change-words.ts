// A change of an item in words: what somebody did, and why if they said so.

import { plural } from "../../lib/words.ts";
import type { Change } from "./work.ts";

const many = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function tied({ detail }: Change): string {
  const [added, removed] = [many(detail.added), many(detail.removed)];
  return [
    added ? `let it wait for ${plural(added, "more item")}` : "",
    removed ? `let it wait for ${plural(removed, "item")} less` : "",
  ]
    .filter(Boolean)
    .join(" and ");
}

function taken({ by, detail }: Change): string {
  const owner = text(detail.owner);
  if (detail.source === "auto") return "took it by itself";
  return owner && owner !== by ? `gave it to ${owner}` : "took it";
}

function finished({ detail }: Change): string {
  const ready = many(detail.unblocked);
  return ready ? `finished it; ${plural(ready, "item")} became ready` : "finished it";
}

/** What was given another value, as it was before. */
function edited({ detail }: Change): string {
  const before = Object.keys((detail.before ?? {}) as Record<string, unknown>);
  return before.join() === "worktree" ? "changed its working directory" : "changed what it says";
}

const WHAT: Record<Change["action"], (change: Change) => string> = {
  created: () => "put it on the board",
  updated: (change) => tied(change) || edited(change),
  linked: (change) => tied(change) || "changed what it waits for",
  claimed: taken,
  completed: finished,
  released: () => "gave it back",
  reopened: () => "put it back on the board",
  deleted: () => "took it off the board",
};

export const changeWords = (change: Change): { what: string; why: string } => ({
  what: WHAT[change.action](change),
  why: text(change.detail.reason),
});
