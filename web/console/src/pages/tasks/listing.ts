// Tasks that fit a query, page after page, with what each has cost.

import type { wire } from "@aster/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";

const PAGE = 50;
/** The most tasks one report of costs has. */
const COSTS = 1000;

export interface Query {
  search?: string;
  status?: wire.Task["status"] | "";
  parent?: string;
}

export interface Listing {
  tasks: wire.Task[];
  /** What is known of the cost of a task; one that is not in it made no call that had a price. */
  costs: ReadonlyMap<string, number | null>;
  more: (() => void) | null;
  loading: boolean;
  error: unknown;
  again: () => void;
  change: (tasks: (was: wire.Task[]) => wire.Task[]) => void;
}

interface State {
  tasks: wire.Task[];
  next: string | null;
  loading: boolean;
  error: unknown;
}

export function useListing({ search = "", status = "", parent = "" }: Query): Listing {
  const [state, setState] = useState<State>({ tasks: [], next: null, loading: true, error: null });
  const [costs, setCosts] = useState<ReadonlyMap<string, number | null>>(new Map());
  const [round, setRound] = useState(0);
  const newest = useRef(0);

  async function load(before: string | null) {
    newest.current += 1;
    const mine = newest.current;
    setState((was) => ({ ...was, loading: true, error: null }));
    try {
      const page = await engine.tasks({
        ...{
          limit: PAGE,
          before,
          search: search.trim() || null,
          status: status || null,
          parent: parent || null,
        },
      });
      if (mine !== newest.current) return;
      setState((was) => ({
        tasks: before === null ? page.tasks : [...was.tasks, ...page.tasks],
        ...{ next: page.next, loading: false, error: null },
      }));
    } catch (error) {
      if (mine === newest.current) setState((was) => ({ ...was, loading: false, error }));
    }
  }

  useEffect(() => void load(null), [search, status, parent, round]);
  useEffect(() => {
    let gone = false;
    costsByTask().then(
      (found) => gone || setCosts(found),
      () => undefined,
    );
    return () => {
      gone = true;
    };
  }, [round]);
  const { next, ...rest } = state;
  return {
    ...rest,
    costs,
    more: next === null ? null : () => void load(next),
    again: () => setRound((n) => n + 1),
    change: (tasks) => setState((was) => ({ ...was, tasks: tasks(was.tasks) })),
  };
}

async function costsByTask(): Promise<Map<string, number | null>> {
  const report = await engine.get<wire.UsageReport>("/usage", { group: "task", limit: COSTS });
  return new Map(report.rows.map((row) => [row.key, row.cost_usd]));
}
