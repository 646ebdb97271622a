// What somebody chose for something on the screen, kept as long as the thing itself: rows that scroll out of sight are
// taken down, and come back as they were left.

import { useState } from "preact/hooks";

const kept = new WeakMap<object, Map<string, unknown>>();

export function useKept<T>(owner: object, name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const known = kept.get(owner);
    return known?.has(name) ? (known.get(name) as T) : initial;
  });
  return [
    value,
    (chosen: T) => {
      const known = kept.get(owner) ?? new Map<string, unknown>();
      kept.set(owner, known.set(name, chosen));
      setValue(chosen);
    },
  ];
}
