// Keys that work everywhere: `g` and a letter goes to a page, `/` to the search or the message of the page.

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
  return !(event.metaKey || event.ctrlKey || event.altKey || typing(event.target));
}

function toField(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>("[data-primary-field]");
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

export function useShortcuts(navigate: (path: string) => void): void {
  useEffect(() => {
    let pressed = Number.NEGATIVE_INFINITY;
    function press(event: KeyboardEvent) {
      if (!plain(event)) return;
      const page = PAGES.find(({ key }) => key === event.key);
      if (event.timeStamp - pressed < TOGETHER_MS && page) navigate(page.path);
      else if (event.key === "/") toField(event);
      pressed = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
    }
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [navigate]);
}
