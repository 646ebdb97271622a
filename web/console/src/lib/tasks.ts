// The tasks in the sidebar and how many questions wait, shared by every page: read at the start, when something here
// changes them, and now and then.

import type { wire } from "@aster/client";
import { signal } from "@preact/signals";
import { engine } from "./engine.ts";

const EVERY_MS = 5000;
const RECENT = 40;

export const recent = signal<wire.Task[]>([]);
export const pending = signal<wire.Pending[]>([]);
/** Whether the engine answered the last time it was asked. */
export const reachable = signal(true);

let running: Promise<void> | null = null;
let next: Promise<void> | null = null;

/** Read what there is now; what is being read already may be older, so it is read once more after that. */
export function refresh(): Promise<void> {
  if (running === null) return begin();
  next ??= running.then(begin);
  return next;
}

function begin(): Promise<void> {
  next = null;
  running = read().finally(() => {
    running = null;
  });
  return running;
}

async function read(): Promise<void> {
  try {
    const [page, open] = await Promise.all([engine.tasks({ limit: RECENT }), engine.pending()]);
    recent.value = page.tasks;
    pending.value = open.pending;
    reachable.value = true;
  } catch {
    reachable.value = false;
  }
}

/** Keep them fresh while the page is looked at; returns how to stop. */
export function keepFresh(): () => void {
  void refresh();
  const timer = setInterval(() => document.visibilityState === "visible" && void refresh(), EVERY_MS);
  return () => clearInterval(timer);
}
