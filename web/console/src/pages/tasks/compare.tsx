// What the model calls of a task were shown, and any two of them side by side.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { CallTable, type Chosen } from "./call-table.tsx";
import { callsPath, diffPath } from "./context-routes.ts";
import { Difference } from "./difference.tsx";
import panel from "./panel.module.css";

const PAGE = 200;

export function Compare({ taskId, from, to }: { taskId: string; from: number; to: number }) {
  const [older, setOlder] = useState<wire.ContextCall[]>([]);
  const [next, setNext] = useState<number | null | undefined>(undefined);
  const [chosen, setChosen] = useState<Chosen>({ from: from || null, to: to || null });
  const first = useLoaded(() => engine.get<wire.ContextPage>(callsPath(taskId), { limit: PAGE }), [taskId]);
  if (first.error) return <Problem {...first} />;
  if (first.value === null) return <Loading label="Loading model calls" />;
  const calls = [...first.value.calls, ...older];
  const before = next === undefined ? first.value.next : next;
  if (calls.length === 0) return <Empty title="No model was called here yet" />;
  async function more() {
    const page = await engine.get<wire.ContextPage>(callsPath(taskId), { limit: PAGE, before });
    setOlder((was) => [...was, ...page.calls]);
    setNext(page.next);
  }
  const compared = settled(calls, chosen);
  return (
    <div class={panel.panel}>
      <CallTable calls={calls} chosen={compared} onChoose={setChosen} />
      {before === null ? null : (
        <Button size="s" onClick={() => void more()}>
          Show older calls
        </Button>
      )}
      {compared.from === null || compared.to === null ? (
        <Empty title="Nothing to compare yet">
          The second model call of the task can be held against the first.
        </Empty>
      ) : (
        <Compared taskId={taskId} from={compared.from} to={compared.to} />
      )}
    </div>
  );
}

/** Both calls: those that were chosen, and for what was not, the newest and the one before. */
export function settled(calls: wire.ContextCall[], { from, to }: Chosen): Chosen {
  const later = to ?? calls.find(({ call }) => from === null || call > from)?.call ?? calls[0]?.call ?? null;
  const earlier = from ?? calls.find(({ call }) => later !== null && call < later)?.call ?? null;
  return { from: earlier, to: later };
}

function Compared({ taskId, from, to }: { taskId: string; from: number; to: number }) {
  const [earlier, later] = from <= to ? [from, to] : [to, from];
  const found = useLoaded(
    () => engine.get<wire.ContextDiff>(diffPath(taskId), { from: earlier, to: later }),
    [taskId, earlier, later],
  );
  if (found.error) return <Problem {...found} />;
  return found.value ? <Difference diff={found.value} /> : <Loading label="Comparing" />;
}
