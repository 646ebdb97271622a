// Moving about in a drawing: the wheel and the buttons zoom, dragging moves. A drag that went nowhere stays a click.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { middle, type Spot, type View, zoomed } from "./graph.ts";

const STEP = 1.25;
const WHEEL = 0.0015;
const STILL_PX = 4;

export interface Panning {
  view: View;
  box: RefObject<SVGSVGElement>;
  zoom: (closer: boolean) => void;
  whole: () => void;
}

/** A point of the screen as a point of the drawing. */
function point(element: SVGSVGElement, event: { clientX: number; clientY: number }): Spot {
  const { a = 1, d = 1, e = 0, f = 0 } = element.getScreenCTM() ?? {};
  return { x: (event.clientX - e) / a, y: (event.clientY - f) / d };
}

/** Lets the wheel and the pointer change the view; returns how to stop. */
function follow(element: SVGSVGElement, change: (to: (was: View) => View) => void): () => void {
  const leaving = new AbortController();
  const { signal } = leaving;
  let from: Spot | null = null;
  let way = 0;
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const at = point(element, event);
    change((was) => zoomed(was, Math.exp(event.deltaY * WHEEL), at));
  };
  const down = (event: PointerEvent) => {
    way = 0;
    if (event.button === 0) from = point(element, event);
  };
  const move = (event: PointerEvent) => {
    if (from === null) return;
    const at = point(element, event);
    const [dx, dy] = [from.x - at.x, from.y - at.y];
    way += Math.abs(event.movementX) + Math.abs(event.movementY);
    change((was) => ({ ...was, x: was.x + dx, y: was.y + dy }));
  };
  const up = () => {
    from = null;
  };
  const click = (event: MouseEvent) => {
    if (way <= STILL_PX) return;
    event.preventDefault();
    event.stopPropagation();
  };
  element.addEventListener("wheel", wheel, { passive: false, signal });
  element.addEventListener("pointerdown", down, { signal });
  element.addEventListener("dragstart", (event) => event.preventDefault(), { signal });
  element.addEventListener("click", click, { capture: true, signal });
  addEventListener("pointermove", move, { signal });
  addEventListener("pointerup", up, { signal });
  addEventListener("pointercancel", up, { signal });
  return () => leaving.abort();
}

export function usePanning(all: View): Panning {
  const [view, setView] = useState(all);
  const box = useRef<SVGSVGElement>(null);
  useEffect(() => setView(all), [all]);
  useEffect(() => (box.current ? follow(box.current, setView) : undefined), []);
  return {
    view,
    box,
    zoom: (closer) => setView((was) => zoomed(was, closer ? 1 / STEP : STEP, middle(was))),
    whole: () => setView(all),
  };
}
