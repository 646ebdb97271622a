// Tasks that fit a query, page after page.

import type { wire } from "@aster/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";

const PAGE = 50;

export interface Query {
  search?: string;
  status?: wire.Task["status"] | "";
  parent?: string;
}

export interface Listing {
  tasks: wire.ListedTask[];
  more: (() => void) | null;
  loading: boolean;
  error: unknown;
  again: () => void;
  change: (tasks: (was: wire.ListedTask[]) => wire.ListedTask[]) => void;
}

interface State {
  tasks: wire.ListedTask[];
  next: string | null;
  loading: boolean;
  error: unknown;
}

export function useListing({ search = "", status = "", parent = "" }: Query): Listing {
  const [state, setState] = useState<State>({ tasks: [], next: null, loading: true, error: null });
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
  const { next, ...rest } = state;
  return {
    ...rest,
    more: next === null ? null : () => void load(next),
    again: () => setRound((n) => n + 1),
    change: (tasks) => setState((was) => ({ ...was, tasks: tasks(was.tasks) })),
  };
}
