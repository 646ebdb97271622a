// Files dropped anywhere on the page: they are attached, and the browser does not leave for them.

import { useEffect, useRef, useState } from "preact/hooks";

const carries = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

/** Takes the files; says whether some are being held over the page. */
export function useDropping(take: (files: Iterable<File>) => void): boolean {
  const [over, setOver] = useState(false);
  const newest = useRef(take);
  newest.current = take;
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    function hold(event: DragEvent) {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(true);
    }
    function drop(event: DragEvent) {
      setOver(false);
      if (!carries(event)) return;
      event.preventDefault();
      newest.current(event.dataTransfer?.files ?? []);
    }
    addEventListener("dragover", hold, { signal });
    addEventListener("drop", drop, { signal });
    addEventListener("dragleave", ({ relatedTarget }) => relatedTarget === null && setOver(false), {
      signal,
    });
    return () => leaving.abort();
  }, []);
  return over;
}
