// Something the engine answers, kept with how it stands: asked for once, again when what it depends on changes, and never
// shown when a later answer has come first.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  value: T | null;
  error: unknown;
  loading: boolean;
  again: () => void;
}

export function useLoaded<T>(load: () => Promise<T>, depends: unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "again">>({ value: null, error: null, loading: true });
  const [round, setRound] = useState(0);
  const newest = useRef(0);
  const again = useCallback(() => setRound((n) => n + 1), []);
  useEffect(() => {
    newest.current += 1;
    const mine = newest.current;
    setState((was) => ({ ...was, loading: true }));
    load().then(
      (value) => mine === newest.current && setState({ value, error: null, loading: false }),
      (error: unknown) => mine === newest.current && setState((was) => ({ ...was, error, loading: false })),
    );
  }, [...depends, round]);
  return { ...state, again };
}
