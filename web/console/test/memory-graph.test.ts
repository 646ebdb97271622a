import { expect, test } from "vitest";
import { around, graphOf, placed, zoomed } from "../src/pages/memory/graph.ts";
import type { Kept } from "../src/pages/memory/memory.ts";

const node = (id: string, name: string) => ({ id, kind: "node", name, type: "person" }) as unknown as Kept;
const edge = (source: string, target: string) =>
  ({
    id: `${source}-${target}`,
    kind: "edge",
    source_id: source,
    target_id: target,
    source: source.toUpperCase(),
    target: target.toUpperCase(),
    relation: "WORKS_AT",
  }) as unknown as Kept;

test("who is only named by a relation is there too", () => {
  const { beings, ties } = graphOf([node("a", "Ada"), edge("a", "b")]);
  expect(beings.map(({ name, type, degree }) => [name, type, degree])).toEqual([
    ["Ada", "person", 1],
    ["B", "other", 1],
  ]);
  expect(ties[0]?.relation).toBe("works at");
});

test("the same records get the same places, apart from each other", () => {
  const graph = graphOf([edge("a", "b"), edge("b", "c"), edge("c", "c")]);
  const spots = placed(graph);
  expect([...placed(graph)]).toEqual([...spots]);
  const [a, b] = [spots.get("a"), spots.get("b")];
  expect(Math.hypot((a?.x ?? 0) - (b?.x ?? 0), (a?.y ?? 0) - (b?.y ?? 0))).toBeGreaterThan(40);
});

test("everything is in sight, and what is zoomed at stays where it is", () => {
  const spots = placed(graphOf([edge("a", "b"), edge("b", "c")]));
  const view = around(spots.values());
  for (const { x, y } of spots.values()) {
    expect(x).toBeGreaterThan(view.x);
    expect(x).toBeLessThan(view.x + view.width);
    expect(y).toBeGreaterThan(view.y);
    expect(y).toBeLessThan(view.y + view.height);
  }
  const closer = zoomed({ x: 0, y: 0, width: 100, height: 100 }, 0.5, { x: 100, y: 0 });
  expect(closer).toEqual({ x: 50, y: 0, width: 50, height: 50 });
});

test("a single name is shown no larger than many", () => {
  const view = around([{ x: 0, y: 0 }]);
  expect(view.width).toBeGreaterThanOrEqual(360);
  expect([view.x + view.width / 2, view.y + view.height / 2]).toEqual([0, 0]);
});
