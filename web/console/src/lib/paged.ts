// A list that comes in pages, newest first: the pages so far, and how to get the next.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

interface Sheet<T> {
  items: T[];
  next: number | null;
}

export interface Paged<T> {
  items: T[] | null;
  error: unknown;
  loading: boolean;
  /** Null when there is no more. */
  more: (() => void) | null;
  again: () => void;
}

export function usePaged<T>(
  load: (before: number | null) => Promise<Sheet<T>>,
  depends: unknown[],
): Paged<T> {
  const [items, setItems] = useState<T[] | null>(null);
  const [next, setNext] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [loading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const newest = useRef(0);
  function read(before: number | null) {
    newest.current += 1;
    const mine = newest.current;
    setLoading(true);
    load(before).then(
      (sheet) => {
        if (mine !== newest.current) return;
        setItems((was) => (before === null ? sheet.items : [...(was ?? []), ...sheet.items]));
        setNext(sheet.next);
        setError(null);
        setLoading(false);
      },
      (problem: unknown) => {
        if (mine !== newest.current) return;
        setError(problem);
        setLoading(false);
      },
    );
  }
  useEffect(() => read(null), [...depends, round]);
  const again = useCallback(() => setRound((n) => n + 1), []);
  return { items, error, loading, more: next === null ? null : () => read(next), again };
}
