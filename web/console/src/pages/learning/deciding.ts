// What can be decided about a changeset and its items, and how many of them that concerns.

import type { Change, Changeset, Decision } from "./learning.ts";

/** What may be done with an item as it stands. */
export function choices({ status }: Pick<Change, "status">): readonly Decision[] {
  if (status === "proposed") return ["accept", "reject"];
  return status === "applied" ? ["revert"] : [];
}

/** What may be done with all items together. */
export function choicesOfAll({ items }: Pick<Changeset, "items">): readonly Decision[] {
  const all: Decision[] = ["accept", "reject", "revert"];
  return all.filter((decision) => items.some((item) => choices(item).includes(decision)));
}

export const concerned = ({ items }: Pick<Changeset, "items">, decision: Decision): Change[] =>
  items.filter((item) => choices(item).includes(decision));

/** The changesets of a page, night by night, in their order. */
export function nights<T extends Pick<Changeset, "night">>(changesets: readonly T[]): [string, T[]][] {
  const found = new Map<string, T[]>();
  for (const one of changesets) found.set(one.night, [...(found.get(one.night) ?? []), one]);
  return [...found];
}

/** How many items came to what, for a line under the title. */
export function counted({ items }: Pick<Changeset, "items">): [Change["status"], number][] {
  const found = new Map<Change["status"], number>();
  for (const { status } of items) found.set(status, (found.get(status) ?? 0) + 1);
  return [...found];
}
