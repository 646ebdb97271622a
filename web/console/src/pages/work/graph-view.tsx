// What waits for what: a drawing that is read from left to right, and below it the same as a list.

import { useMemo, useState } from "preact/hooks";
import { Link, useLocation, useRouter } from "wouter-preact";
import { Badge } from "../../ui/badge.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { MOST, useColumns } from "./columns.ts";
import css from "./graph-view.module.css";
import { type Drawn, drawn, type Edge, NODE, type Node } from "./layers.ts";
import { type Item, STATES, stateOf, workOf } from "./work.ts";

const MARGIN = 8;
const LINE_CHARS = 23;

export function GraphView({ board, changes }: { board: string; changes: number }) {
  const columns = useColumns(board, MOST, changes);
  const items = useMemo(() => (columns.value ? Object.values(columns.value).flat() : null), [columns.value]);
  const graph = useMemo(() => (items ? drawn(items) : null), [items]);
  const [pointed, setPointed] = useState<string | null>(null);
  if (graph === null) return columns.error ? <Problem {...columns} /> : <Loading label="Loading the graph" />;
  if (graph.nodes.length === 0) {
    return (
      <Empty title="Nothing waits for anything">
        Open an item and let it wait for another: what has to be done first is drawn here, from left to right.
      </Empty>
    );
  }
  return (
    <>
      <Drawing graph={graph} pointed={pointed} onPoint={setPointed} />
      <Told graph={graph} onPoint={setPointed} />
    </>
  );
}

/** What somebody points at, with all that it waits for or that waits for it. */
function beside(graph: Drawn, id: string | null): Set<string> | null {
  if (id === null) return null;
  const near = graph.edges.filter(({ from, to }) => from.id === id || to.id === id);
  return new Set([id, ...near.flatMap(({ from, to }) => [from.id, to.id])]);
}

interface DrawingProps {
  graph: Drawn;
  pointed: string | null;
  onPoint: (id: string | null) => void;
}

function Drawing({ graph, pointed, onPoint }: DrawingProps) {
  const near = beside(graph, pointed);
  const size = { width: graph.width + 2 * MARGIN, height: graph.height + 2 * MARGIN };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide drawing is scrolled with the keyboard
    <section class={css.frame} aria-label="The graph, drawn" tabIndex={0}>
      <svg
        class={css.drawing}
        style={{ width: `${size.width}px` }}
        viewBox={`${-MARGIN} ${-MARGIN} ${size.width} ${size.height}`}
        aria-label="What waits for what; the list below says the same"
      >
        <defs>
          <marker
            id="work-arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0 L8 4 L0 8 z" class={css.tip} />
          </marker>
        </defs>
        {graph.edges.map((edge) => (
          <Line key={`${edge.from.id} ${edge.to.id}`} edge={edge} pointed={pointed} />
        ))}
        {graph.nodes.map((node) => (
          <Box key={node.id} node={node} faint={near !== null && !near.has(node.id)} onPoint={onPoint} />
        ))}
      </svg>
    </section>
  );
}

function Line({ edge: { from, to, open }, pointed }: { edge: Edge; pointed: string | null }) {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x - 2, to.y + NODE.height / 2];
  const bend = Math.max(28, (x2 - x1) / 2);
  const on = pointed === from.id || pointed === to.id;
  const state = pointed === null ? "" : on ? css.on : css.off;
  return (
    <path
      class={`${css.edge} ${open ? css.open : ""} ${state}`}
      d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      marker-end="url(#work-arrow)"
    />
  );
}

/** A text in two lines, cut at words where that is possible. */
export function lines(text: string, chars = LINE_CHARS): [string, string] {
  if (text.length <= chars) return [text, ""];
  const space = text.lastIndexOf(" ", chars);
  const cut = space > chars / 2 ? space : chars;
  const rest = text.slice(cut).trim();
  return [text.slice(0, cut), rest.length > chars ? `${rest.slice(0, chars - 1)}…` : rest];
}

interface BoxProps {
  node: Node;
  faint: boolean;
  onPoint: (id: string | null) => void;
}

function Box({ node, faint, onPoint }: BoxProps) {
  const [, navigate] = useLocation();
  const { base } = useRouter();
  const { item, x, y } = node;
  const state = item ? stateOf(item) : "gone";
  const [first, second] = lines(item?.subject ?? "Not on this board");
  const to = item ? workOf({ board: item.board, item: item.item_id, view: "graph" }) : null;
  const shape = (
    <>
      <rect {...{ x, y }} width={NODE.width} height={NODE.height} rx="8" />
      <rect class={css.mark} {...{ x, y: y + 8 }} width="3" height={NODE.height - 16} rx="1.5" />
      <text x={x + 14} y={second ? y + 24 : y + NODE.height / 2 + 4}>
        {first}
      </text>
      {second ? (
        <text x={x + 14} y={y + 42}>
          {second}
        </text>
      ) : null}
    </>
  );
  const name = `${css.node} ${css[state] ?? ""} ${faint ? css.faint : ""}`;
  if (to === null) return <g class={name}>{shape}</g>;
  return (
    <a
      class={name}
      href={base + to}
      aria-label={`${item?.subject}, ${STATES[state as keyof typeof STATES][0]}`}
      onMouseEnter={() => onPoint(node.id)}
      onMouseLeave={() => onPoint(null)}
      onFocus={() => onPoint(node.id)}
      onBlur={() => onPoint(null)}
      onClick={(event) => {
        event.preventDefault();
        navigate(to);
      }}
    >
      {shape}
    </a>
  );
}

function Told({ graph, onPoint }: { graph: Drawn; onPoint: (id: string | null) => void }) {
  const items = graph.nodes.flatMap(({ item }) => (item ? [item] : []));
  const named = new Map(items.map((item) => [item.item_id, item.subject]));
  return (
    <ol class={css.told} aria-label="What waits for what">
      {items.map((item) => (
        <Row key={item.item_id} item={item} named={named} onPoint={onPoint} />
      ))}
    </ol>
  );
}

interface RowProps {
  item: Item;
  named: ReadonlyMap<string, string>;
  onPoint: (id: string | null) => void;
}

function Row({ item, named, onPoint }: RowProps) {
  const [words, tone] = STATES[stateOf(item)];
  return (
    <li onMouseEnter={() => onPoint(item.item_id)} onMouseLeave={() => onPoint(null)}>
      <Link href={workOf({ board: item.board, item: item.item_id, view: "graph" })}>{item.subject}</Link>{" "}
      <Badge tone={tone}>{words}</Badge>
      {item.blocked_by.length ? (
        <p>{`after ${item.blocked_by.map((id) => named.get(id) ?? id).join(", ")}`}</p>
      ) : null}
    </li>
  );
}
