// Days as bars, drawn by ourselves. What is drawn stands in a table too, for whoever cannot see it or wants the numbers.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { money, short } from "../../lib/words.ts";
import css from "./chart.module.css";
import { type Bar, type Measure, marks } from "./usage.ts";

const HEIGHT = 240;
const LEFT = 52;
const BOTTOM = 22;
const TOP = 8;
const LABEL_WIDTH = 84;
const LABEL_HALF = 22;
const FIRST_WIDTH = 1000;

export const shown = (value: number, measure: Measure): string =>
  measure === "cost" ? money(value) : short(value);

const date = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
export const named = (day: string): string => date.format(new Date(`${day}T00:00:00Z`));

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

export function Chart({ bars, measure }: { bars: Bar[]; measure: Measure }) {
  const [box, width] = useWidth();
  const [pointed, setPointed] = useState<Bar | null>(null);
  const scale = marks(Math.max(...bars.map(({ value }) => value)));
  const top = scale.at(-1) ?? 1;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const slot = (width - LEFT) / bars.length;
  const every = Math.ceil(LABEL_WIDTH / slot);
  const thick = Math.max(1, Math.min(46, slot * 0.72));
  return (
    <figure class={css.figure}>
      <figcaption class={css.caption} aria-live="polite">
        {pointed ? `${named(pointed.day)}: ${shown(pointed.value, measure)}` : "\u00a0"}
      </figcaption>
      <svg ref={box} class={css.chart} height={HEIGHT} aria-hidden="true">
        {scale.map((mark) => (
          <g key={mark} class={css.mark}>
            <line x1={LEFT} x2={width} y1={y(mark)} y2={y(mark)} />
            <text x={LEFT - 8} y={y(mark) + 4}>
              {shown(mark, measure)}
            </text>
          </g>
        ))}
        {bars.map((bar, at) => {
          const x = LEFT + at * slot;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: pointing shows what the table says anyway
            <g
              key={bar.day}
              class={css.bar}
              onMouseEnter={() => setPointed(bar)}
              onMouseLeave={() => setPointed(null)}
            >
              <rect class={css.slot} x={x} y={TOP} width={slot} height={HEIGHT - TOP - BOTTOM} />
              <rect
                class={css.value}
                x={x + (slot - thick) / 2}
                y={y(bar.value)}
                width={thick}
                height={Math.max(0, y(0) - y(bar.value))}
                rx={Math.min(4, thick / 3)}
              />
              {(bars.length - 1 - at) % every === 0 ? (
                <text class={css.day} x={Math.min(x + slot / 2, width - LABEL_HALF)} y={HEIGHT - 6}>
                  {named(bar.day)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
