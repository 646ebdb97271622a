// Days as bars, drawn by ourselves; a bar may be made of parts, and parts may hang below the line. What is drawn stands
// in a table beside it too, for whoever cannot see it or wants the numbers.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { marks, named } from "../lib/days.ts";
import css from "./day-chart.module.css";

const HEIGHT = 240;
const LEFT = 52;
const BOTTOM = 22;
const TOP = 8;
const LABEL_WIDTH = 84;
const LABEL_HALF = 22;
const FIRST_WIDTH = 1000;

export interface Part {
  tone: "accent" | "good" | "bad" | "soft";
  value: number;
}

export interface Day {
  day: string;
  up: readonly Part[];
  down?: readonly Part[];
}

interface Props<D extends Day> {
  days: readonly D[];
  /** A value as it stands beside the marks. */
  shown: (value: number) => string;
  /** What is said of a day that is pointed at. */
  tell: (day: D) => string;
  /** The smallest distance of two marks; 1 for what is counted. */
  least?: number;
}

const sum = (parts: readonly Part[] = []): number => parts.reduce((all, { value }) => all + value, 0);

/** The marks above and below the line, the lowest first. */
export function marksOf(days: readonly Day[], least = 0): number[] {
  const above = Math.max(0, ...days.map(({ up }) => sum(up)));
  const below = Math.max(0, ...days.map(({ down }) => sum(down)));
  const scale = marks(Math.max(above, below), 4, least);
  if (below === 0) return scale;
  const step = scale[1] ?? 1;
  const fits = (mark: number, value: number) => mark === 0 || mark < value + step;
  return [
    ...scale.filter((mark) => mark > 0 && fits(mark, below)).map((mark) => -mark),
    ...scale.filter((mark) => fits(mark, above)),
  ].toSorted((one, other) => one - other);
}

interface Piece {
  tone: Part["tone"];
  from: number;
  to: number;
}

/** Parts on top of one another, away from the line. */
function piled(parts: readonly Part[] = [], sign: 1 | -1): Piece[] {
  let at = 0;
  return parts.map(({ tone, value }) => {
    const from = at;
    at += sign * value;
    return { tone, from, to: at };
  });
}

/** How wide the drawing is on this screen; it is drawn in the screen's own pixels. */
function useWidth(): [RefObject<SVGSVGElement>, number] {
  const box = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setWidth(element.clientWidth || FIRST_WIDTH);
    const watch = new ResizeObserver(measure);
    measure();
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

export function DayChart<D extends Day>({ days, shown, tell, least = 0 }: Props<D>) {
  const [box, width] = useWidth();
  const [pointed, setPointed] = useState<D | null>(null);
  const scale = marksOf(days, least);
  const [low, top] = [scale[0] ?? 0, scale.at(-1) ?? 1];
  const y = (value: number) => TOP + ((HEIGHT - TOP - BOTTOM) * (top - value)) / (top - low || 1);
  const slot = (width - LEFT) / days.length;
  const every = Math.ceil(LABEL_WIDTH / slot);
  const thick = Math.max(1, Math.min(46, slot * 0.72));
  return (
    <figure class={css.figure}>
      <figcaption class={css.caption} aria-live="polite">
        {pointed ? `${named(pointed.day)}: ${tell(pointed)}` : "\u00a0"}
      </figcaption>
      <svg ref={box} class={css.chart} height={HEIGHT} aria-hidden="true">
        {scale.map((mark) => (
          <g key={mark} class={css.mark}>
            <line x1={LEFT} x2={width} y1={y(mark)} y2={y(mark)} />
            <text x={LEFT - 8} y={y(mark) + 4}>
              {shown(Math.abs(mark))}
            </text>
          </g>
        ))}
        {days.map((one, at) => {
          const x = LEFT + at * slot;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: pointing shows what the table says anyway
            <g
              key={one.day}
              class={css.bar}
              onMouseEnter={() => setPointed(one)}
              onMouseLeave={() => setPointed(null)}
            >
              <rect class={css.slot} x={x} y={TOP} width={slot} height={HEIGHT - TOP - BOTTOM} />
              {[...piled(one.up, 1), ...piled(one.down, -1)].map(({ tone, from, to }) => (
                <rect
                  key={`${tone} ${from < to}`}
                  class={css[tone]}
                  x={x + (slot - thick) / 2}
                  y={y(Math.max(from, to))}
                  width={thick}
                  height={Math.abs(y(from) - y(to))}
                  rx={Math.min(4, thick / 3)}
                />
              ))}
              {(days.length - 1 - at) % every === 0 ? (
                <text class={css.day} x={Math.min(x + slot / 2, width - LABEL_HALF)} y={HEIGHT - 6}>
                  {named(one.day)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
