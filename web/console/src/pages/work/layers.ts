// Where the items of a graph stand when it is drawn: whatever waits stands to the right of all it waits for, and neighbours
// are put near each other. The same items always get the same places.

import type { Item } from "./work.ts";

export const NODE = { width: 200, height: 58 } as const;
const GAP = { x: 56, y: 18 } as const;
const SWEEPS = 6;

/** An item, or something that items wait for and that is not there (any more). */
export interface Node {
  id: string;
  item: Item | null;
  layer: number;
  x: number;
  y: number;
}

export interface Edge {
  from: Node;
  to: Node;
  /** What is waited for is not done yet. */
  open: boolean;
}

export interface Drawn {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
}

/** How far to the right each stands; what would go in a circle stands where it was met first. */
function layersOf(needs: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const layers = new Map<string, number>();
  const open = new Set<string>();
  function layer(id: string): number {
    const known = layers.get(id);
    if (known !== undefined) return known;
    if (open.has(id)) return 0;
    open.add(id);
    const found = Math.max(-1, ...(needs.get(id) ?? []).map(layer)) + 1;
    open.delete(id);
    layers.set(id, found);
    return found;
  }
  for (const id of needs.keys()) layer(id);
  return layers;
}

const mean = (values: number[], otherwise: number): number =>
  values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Puts every layer in the order of the middle of its neighbours, forth and back a few times. */
function ordered(layers: string[][], beside: (id: string, forth: boolean) => readonly string[]): void {
  const place = new Map(layers.flatMap((layer) => layer.map((id, at) => [id, at] as const)));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forth = sweep % 2 === 0;
    for (const layer of forth ? layers : layers.toReversed()) {
      const middle = new Map(
        layer.map((id, at) => [
          id,
          mean(
            beside(id, forth).map((other) => place.get(other) ?? at),
            at,
          ),
        ]),
      );
      layer.sort((one, other) => (middle.get(one) ?? 0) - (middle.get(other) ?? 0));
      for (const [at, id] of layer.entries()) place.set(id, at);
    }
  }
}

export function drawn(items: readonly Item[]): Drawn {
  const known = new Map(items.map((item) => [item.item_id, item]));
  const needs = new Map<string, readonly string[]>(items.map((item) => [item.item_id, item.blocked_by]));
  for (const item of items) for (const id of item.blocked_by) if (!needs.has(id)) needs.set(id, []);
  const followers = new Map<string, string[]>();
  for (const [id, before] of needs)
    for (const one of before) followers.set(one, [...(followers.get(one) ?? []), id]);
  const tied = [...needs.keys()].filter((id) => needs.get(id)?.length || followers.has(id));
  const layerOf = layersOf(new Map(tied.map((id) => [id, needs.get(id) ?? []])));
  const layers: string[][] = [];
  for (const id of tied) {
    const at = layerOf.get(id) ?? 0;
    layers[at] = [...(layers[at] ?? []), id];
  }
  ordered(layers, (id, forth) => (forth ? needs.get(id) : followers.get(id)) ?? []);
  const tallest = Math.max(0, ...layers.map((layer) => layer.length));
  const step = { x: NODE.width + GAP.x, y: NODE.height + GAP.y };
  const nodes = layers.flatMap((ids, layer) =>
    ids.map((id, at): Node => {
      const top = ((tallest - ids.length) * step.y) / 2;
      return { id, item: known.get(id) ?? null, layer, x: layer * step.x, y: top + at * step.y };
    }),
  );
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = nodes.flatMap((to) =>
    (to.item?.blocked_by ?? []).flatMap((id): Edge[] => {
      const from = byId.get(id);
      return from ? [{ from, to, open: to.item?.waiting_for.includes(id) ?? false }] : [];
    }),
  );
  return {
    ...{ nodes, edges },
    width: Math.max(0, layers.length * step.x - GAP.x),
    height: Math.max(0, tallest * step.y - GAP.y),
  };
}
