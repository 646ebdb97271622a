// Keys that work everywhere: `g` and a letter goes to a page, `/` to the search or the message of the page, `?` shows
// all of them.

import { useEffect } from "preact/hooks";
import { PAGES } from "./pages.ts";

const TOGETHER_MS = 1200;

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function plain(event: KeyboardEvent): boolean {
  const modal = document.querySelector("dialog[open]") !== null;
  return !(modal || event.metaKey || event.ctrlKey || event.altKey || typing(event.target));
}

function toField(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>("[data-primary-field]");
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

const pageOf = (letter: string) => PAGES.find(({ key }) => key === letter);

export function useShortcuts(navigate: (path: string) => void, help: () => void): void {
  useEffect(() => {
    let pressed = Number.NEGATIVE_INFINITY;
    function act(event: KeyboardEvent) {
      if (event.key === "/") toField(event);
      if (event.key === "?") help();
    }
    function press(event: KeyboardEvent) {
      if (!plain(event)) return;
      const page = event.timeStamp - pressed < TOGETHER_MS ? pageOf(event.key) : undefined;
      pressed = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (page) navigate(page.path);
      else act(event);
    }
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [navigate]);
}
