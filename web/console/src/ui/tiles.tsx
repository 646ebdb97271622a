import type { ComponentChildren } from "preact";
import css from "./tiles.module.css";

export type Tile = readonly [name: string, value: ComponentChildren, more: ComponentChildren];

/** A few numbers that matter most, each in a frame of its own. */
export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <dl class={css.tiles}>
      {tiles.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd class={css.more}>{more}</dd>
        </div>
      ))}
    </dl>
  );
}
