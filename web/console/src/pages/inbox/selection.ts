// Which request is looked at, and the keys that move between requests and answer them.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Act, meaning, taken } from "./keys.ts";

const SHORTCUT_MS = 1200;
/** How long a request that moved up by itself has to be seen before a key answers it. */
const SEEN_MS = 350;

/** The one that is looked at: still the same, or the one that took its place. */
export function stay(
  ids: readonly string[],
  before: readonly string[],
  selected: string | null,
): string | null {
  if (selected !== null && ids.includes(selected)) return selected;
  const place = selected === null ? 0 : before.indexOf(selected);
  return ids[Math.min(Math.max(place, 0), ids.length - 1)] ?? null;
}

export function moved(ids: readonly string[], selected: string | null, by: number): string | null {
  const place = selected === null ? -1 : ids.indexOf(selected);
  return ids[Math.min(Math.max(place + by, 0), ids.length - 1)] ?? null;
}

const cardOf = (id: string | null): HTMLElement | null =>
  id === null ? null : document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);

/** Where in a card an act is done. */
function targetOf(card: HTMLElement, act: Act): HTMLElement | null | undefined {
  switch (act.do) {
    case "answer":
      return card.querySelector<HTMLElement>(`[data-answer="${act.name}"]`);
    case "choose":
      return card.querySelectorAll<HTMLElement>("[data-answer]")[act.nth];
    case "open":
      return card.querySelector<HTMLElement>("[data-open]");
    default:
      return card.querySelector<HTMLElement>("form :is(input, textarea, select)");
  }
}

function perform(card: HTMLElement, act: Act): boolean {
  const target = targetOf(card, act);
  if (act.do === "write") target?.focus();
  else target?.click();
  return target != null;
}

export interface Selection {
  selected: string | null;
  select: (id: string) => void;
}

export function useSelection(ids: readonly string[]): Selection {
  const [chosen, setChosen] = useState<string | null>(null);
  const before = useRef<readonly string[]>(ids);
  const selected = stay(ids, before.current, chosen);
  const since = useRef(0);
  const now = useRef({ ids, selected });
  useLayoutEffect(() => {
    if (now.current.selected !== selected && selected !== chosen) since.current = performance.now();
    now.current = { ids, selected };
    before.current = ids;
    if (selected !== chosen) setChosen(selected);
  });
  function select(id: string | null) {
    since.current = 0;
    setChosen(id);
  }
  useEffect(() => {
    let together = Number.NEGATIVE_INFINITY;
    function act(event: KeyboardEvent): boolean {
      const wanted = meaning(event);
      if (wanted === null || taken(event.target, wanted)) return false;
      if (wanted.do === "move") return go(moved(now.current.ids, now.current.selected, wanted.by));
      const card = cardOf(now.current.selected);
      const seen = performance.now() - since.current >= SEEN_MS;
      return card !== null && seen && perform(card, wanted);
    }
    function go(next: string | null): boolean {
      select(next);
      cardOf(next)?.querySelector<HTMLElement>("[data-request]")?.focus();
      return true;
    }
    function press(event: KeyboardEvent) {
      const shortcut = event.timeStamp - together < SHORTCUT_MS;
      together = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (!shortcut && !event.defaultPrevented && act(event)) event.preventDefault();
    }
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return { selected, select };
}
