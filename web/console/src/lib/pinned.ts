// A box that grows at its end: the newest stays in sight unless somebody has scrolled up to read.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

const NEAR_PX = 40;

export function usePinned<E extends HTMLElement>(content: unknown): RefObject<E> {
  const box = useRef<E>(null);
  const pinned = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && pinned.current) element.scrollTop = element.scrollHeight;
  }, [content]);
  useEffect(() => {
    const element = box.current;
    const look = () => {
      if (element) pinned.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    };
    element?.addEventListener("scroll", look, { passive: true });
    return () => element?.removeEventListener("scroll", look);
  }, []);
  return box;
}
