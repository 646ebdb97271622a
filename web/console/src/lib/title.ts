// The browser's tab: how many questions wait, then what is looked at; its icon shows that something waits, also where
// there is no room for words.

import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pending } from "./tasks.ts";

const CALM = "/console/icon.svg";
const WAITING = "/console/icon-waiting.svg";
const shown = signal("Aster");

export function useTitle(title: string): void {
  useEffect(() => {
    shown.value = `${title} · Aster`;
  }, [title]);
}

/** Keep it true from now on; returns how to stop. */
export function keepTitle(): () => void {
  return effect(() => {
    const waits = pending.value.length;
    document.title = waits > 0 ? `(${waits}) ${shown.value}` : shown.value;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon) icon.href = waits > 0 ? WAITING : CALM;
  });
}
