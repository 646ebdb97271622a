// A notice of the browser's own when something new waits for a person. It is given only after somebody has asked for it
// with a click; while it is wanted, the engine is asked also when the page is not looked at.

import { effect, signal } from "@preact/signals";
import { navigate } from "wouter-preact/use-browser-location";
import { recall, remember } from "./storage.ts";
import { pending, refresh } from "./tasks.ts";

const UNSEEN_EVERY_MS = 10_000;

export const noticing = signal(possible() && recall("notices", "") === "on");

function possible(): boolean {
  return "Notification" in globalThis && Notification.permission !== "denied";
}

/** Whether this browser lets the page give notices at all. */
export const noticeable = signal(possible());

/** Ask for them, or do without; to be called by a click. */
export async function wantNotices(wanted: boolean): Promise<void> {
  const granted = wanted && possible() && (await Notification.requestPermission()) === "granted";
  noticeable.value = possible();
  noticing.value = granted;
  remember("notices", granted ? "on" : "");
}

/** From now on, until the function it returns is called; what waits when it is first read is not new. */
export function keepNoticing(): () => void {
  const unread = pending.peek();
  let known: Set<string> | null = null;
  const leave = effect(() => {
    const open = pending.value;
    if (open === unread) return;
    const fresh = known === null ? [] : open.filter((request) => !known?.has(request.request_id));
    known = new Set(open.map((request) => request.request_id));
    if (noticing.peek()) for (const request of fresh) give(request.request_id, request.question);
  });
  const timer = setInterval(() => {
    if (noticing.value && document.visibilityState === "hidden") void refresh();
  }, UNSEEN_EVERY_MS);
  return () => {
    leave();
    clearInterval(timer);
  };
}

function give(requestId: string, question: string): void {
  const notice = new Notification("Aster waits for you", {
    ...{ body: question.slice(0, 200), tag: requestId, icon: "/console/icon.svg" },
  });
  notice.onclick = () => {
    globalThis.focus();
    navigate("/console/inbox");
    notice.close();
  };
}
