// The guide for the first ten minutes: where it is, and whether this browser has seen it. A first visit begins there.

import { useEffect } from "preact/hooks";
import { recall, remember } from "./storage.ts";

export const GUIDE = "/settings/guide";
const NAME = "guide";

export const closeGuide = (): void => remember(NAME, "seen");

/** To be called once for the whole page: whoever comes to the front door for the first time is shown the guide. */
export function useFirstVisit(
  location: string,
  navigate: (to: string, how: { replace: boolean }) => void,
): void {
  useEffect(() => {
    if (location === "/" && recall(NAME, "") === "") navigate(GUIDE, { replace: true });
  }, []);
}
