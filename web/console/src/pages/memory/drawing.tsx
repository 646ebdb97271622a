// The social graph as a drawing: who or what is pointed at shows what it is tied to, a click goes to its record.

import { Maximize, Minus, Plus } from "lucide-preact";
import { useMemo, useState } from "preact/hooks";
import { useLocation, useRouter } from "wouter-preact";
import { IconButton } from "../../ui/button.tsx";
import css from "./drawing.module.css";
import { around, type Being, type Graph, placed, type Spot, type Tie } from "./graph.ts";
import { recordOf } from "./memory.ts";
import { usePanning } from "./panning.ts";

const NOWHERE: Spot = { x: 0, y: 0 };

/** Who stands beside somebody, themselves included. */
function near(graph: Graph, id: string | null): Set<string> | null {
  if (id === null) return null;
  const ties = graph.ties.filter(({ source, target }) => source === id || target === id);
  return new Set([id, ...ties.flatMap(({ source, target }) => [source, target])]);
}

export function Drawing({ graph }: { graph: Graph }) {
  const spots = useMemo(() => placed(graph), [graph]);
  const all = useMemo(() => around(spots.values()), [spots]);
  const { view, box, zoom, whole } = usePanning(all);
  const [pointed, setPointed] = useState<string | null>(null);
  const beside = near(graph, pointed);
  const spot = (id: string) => spots.get(id) ?? NOWHERE;
  return (
    <div class={css.frame}>
      <svg
        ref={box}
        class={css.drawing}
        aria-label="The social graph; the list below says the same"
        viewBox={`${view.x} ${view.y} ${view.width} ${view.height}`}
      >
        {graph.ties.map((tie) => (
          <Line
            key={tie.id}
            tie={tie}
            from={spot(tie.source)}
            to={spot(tie.target)}
            state={pointed === null ? "" : tie.source === pointed || tie.target === pointed ? "on" : "off"}
          />
        ))}
        {graph.beings.map((being) => (
          <Dot
            key={being.id}
            being={being}
            at={spot(being.id)}
            faint={beside !== null && !beside.has(being.id)}
            onPoint={setPointed}
          />
        ))}
      </svg>
      <div class={css.buttons}>
        <IconButton kind="plain" size="s" label="Closer" onClick={() => zoom(true)}>
          <Plus size={14} />
        </IconButton>
        <IconButton kind="plain" size="s" label="Further away" onClick={() => zoom(false)}>
          <Minus size={14} />
        </IconButton>
        <IconButton kind="plain" size="s" label="Show all" onClick={whole}>
          <Maximize size={14} />
        </IconButton>
      </div>
    </div>
  );
}

interface LineProps {
  tie: Tie;
  from: Spot;
  to: Spot;
  state: "" | "on" | "off";
}

function Line({ tie, from, to, state }: LineProps) {
  return (
    <g class={`${css.tie} ${state ? css[state] : ""}`}>
      <line
        x1={from.x}
        y1={from.y}
        x2={to.x}
        y2={to.y}
        stroke-width={Math.min(4, 1 + Math.log2(tie.weight))}
      />
      <text x={(from.x + to.x) / 2} y={(from.y + to.y) / 2 - 4}>
        {tie.relation}
      </text>
    </g>
  );
}

interface DotProps {
  being: Being;
  at: Spot;
  faint: boolean;
  onPoint: (id: string | null) => void;
}

const NAME_CHARS = 24;

function Dot({ being, at, faint, onPoint }: DotProps) {
  const [, navigate] = useLocation();
  const { base } = useRouter();
  const size = 9 + Math.min(9, being.degree * 1.5);
  return (
    <a
      class={`${css.being} ${css[being.type] ?? ""} ${faint ? css.faint : ""}`}
      href={base + recordOf(being.id)}
      aria-label={`${being.name}, ${being.type}`}
      draggable={false}
      onMouseEnter={() => onPoint(being.id)}
      onMouseLeave={() => onPoint(null)}
      onFocus={() => onPoint(being.id)}
      onBlur={() => onPoint(null)}
      onClick={(event) => {
        event.preventDefault();
        navigate(recordOf(being.id));
      }}
    >
      <circle cx={at.x} cy={at.y} r={size} />
      <text x={at.x} y={at.y + size + 14}>
        {being.name.length > NAME_CHARS ? `${being.name.slice(0, NAME_CHARS)}…` : being.name}
      </text>
    </a>
  );
}
