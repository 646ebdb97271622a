// Something the engine answers that others change too: read again every few seconds while the page is looked at, and at
// once when somebody comes back to it.

import { useEffect } from "preact/hooks";
import { type Loaded, useLoaded } from "./loaded.ts";

const EVERY_MS = 2500;

export function useLive<T>(load: () => Promise<T>, depends: unknown[], everyMs = EVERY_MS): Loaded<T> {
  const loaded = useLoaded(load, depends);
  const { again, loading } = loaded;
  useEffect(() => {
    if (loading) return;
    const look = () => document.visibilityState === "visible" && again();
    const timer = setInterval(look, everyMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [loading, again, everyMs]);
  return loaded;
}
