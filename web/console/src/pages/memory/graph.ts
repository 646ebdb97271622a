// People and things with what holds between them, made of records, and a place for each. The same records always get the
// same places, and all of them at once: nothing moves while somebody looks.

import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";
import type { Kept } from "./memory.ts";

export interface Being {
  id: string;
  name: string;
  type: string;
  degree: number;
}

export interface Tie {
  id: string;
  source: string;
  target: string;
  relation: string;
  weight: number;
}

export interface Graph {
  beings: Being[];
  ties: Tie[];
}

const words = (value: unknown): string => String(value ?? "");

/** Somebody a relation names but no record describes is there too, without a record to go to. */
export function graphOf(records: Kept[]): Graph {
  const beings = new Map<string, Being>();
  for (const { id, kind, name, type } of records)
    if (kind === "node") beings.set(id, { id, name: words(name), type: words(type), degree: 0 });
  const ties = records
    .filter(({ kind }) => kind === "edge")
    .map((edge) => ({
      id: edge.id,
      source: words(edge.source_id),
      target: words(edge.target_id),
      relation: words(edge.relation).toLowerCase().replaceAll("_", " "),
      weight: Number(edge.weight) || 1,
      names: [words(edge.source), words(edge.target)] as const,
    }));
  for (const { source, target, names } of ties) {
    for (const [id, name] of [
      [source, names[0]],
      [target, names[1]],
    ] as const) {
      const one = beings.get(id) ?? { id, name, type: "other", degree: 0 };
      beings.set(id, { ...one, degree: one.degree + 1 });
    }
  }
  return { beings: [...beings.values()], ties: ties.map(({ names: _, ...tie }) => tie) };
}

export interface Spot {
  x: number;
  y: number;
}

const TICKS = 260;
const APART = 140;

/** Where each stands, around the origin. */
export function placed({ beings, ties }: Graph): Map<string, Spot> {
  const nodes: (SimulationNodeDatum & { id: string })[] = beings.map(({ id }) => ({ id }));
  const links: SimulationLinkDatum<SimulationNodeDatum & { id: string }>[] = ties
    .filter(({ source, target }) => source !== target)
    .map(({ source, target }) => ({ source, target }));
  forceSimulation(nodes)
    .force(
      "link",
      forceLink<SimulationNodeDatum & { id: string }, (typeof links)[number]>(links)
        .id(({ id }) => id)
        .distance(APART),
    )
    .force("apart", forceManyBody().strength(-420).distanceMax(600))
    .force("room", forceCollide(38))
    .force("x", forceX().strength(0.05))
    .force("y", forceY().strength(0.08))
    .stop()
    .tick(TICKS);
  return new Map(nodes.map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}

export interface View extends Spot {
  width: number;
  height: number;
}

const MARGIN = 70;
const LEAST = { width: 360, height: 480 };

/** The part of the plane that shows everything. */
export function around(spots: Iterable<Spot>): View {
  let [left, top, right, bottom] = [0, 0, 0, 0];
  for (const { x, y } of spots) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  // A few names would fill the whole drawing: they are shown no larger than many.
  const width = Math.max(right - left + 2 * MARGIN, LEAST.width);
  const height = Math.max(bottom - top + 2 * MARGIN, LEAST.height);
  return { x: (left + right - width) / 2, y: (top + bottom - height) / 2, width, height };
}

/** A view made narrower (below 1) or wider around a point that stays where it is. */
export function zoomed(view: View, by: number, at: Spot): View {
  return {
    x: at.x - (at.x - view.x) * by,
    y: at.y - (at.y - view.y) * by,
    width: view.width * by,
    height: view.height * by,
  };
}

export const middle = (view: View): Spot => ({ x: view.x + view.width / 2, y: view.y + view.height / 2 });
