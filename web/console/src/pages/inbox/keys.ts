// What a key means in the inbox. A key that answers does so once: not while it is held, not as the second letter of a
// shortcut, and not for a request that has only just taken the place of another.

export type Act =
  | { do: "move"; by: 1 | -1 }
  | { do: "answer"; name: string }
  | { do: "choose"; nth: number }
  | { do: "write" }
  | { do: "open" };

export interface Press {
  key: string;
  repeat: boolean;
  metaKey: boolean;
  ctrlKey: boolean;
  altKey: boolean;
}

const MOVES: Record<string, 1 | -1> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const ANSWERS: Record<string, string> = { y: "yes", n: "no" };

export function meaning(press: Press): Act | null {
  if (press.metaKey || press.ctrlKey || press.altKey) return null;
  const by = MOVES[press.key];
  if (by) return { do: "move", by };
  if (press.repeat) return null;
  const name = ANSWERS[press.key];
  if (name) return { do: "answer", name };
  if (/^[1-9]$/.test(press.key)) return { do: "choose", nth: Number(press.key) - 1 };
  if (press.key === "Enter") return { do: "write" };
  return press.key === "o" ? { do: "open" } : null;
}

const TYPED = "input, textarea, select, [contenteditable], dialog";
const PRESSED = "a, button";

/** Whether the key belongs to what has the focus, and not to the page. */
export function taken(target: EventTarget | null, act: Act): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest(TYPED)) return true;
  return act.do === "write" && target.closest(PRESSED) !== null && !target.closest("[data-request]");
}
