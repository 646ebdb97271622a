// A long list of which only the rows in sight are drawn. The library is made for React; this is what we use of it, in
// Preact's words. Give children, or `data` and a function that draws one of them.

import type { ComponentChildren, FunctionComponent, RefObject } from "preact";
import { VList, type VListHandle } from "virtua";

export type RowsHandle = VListHandle;

interface Common {
  class?: string | undefined;
  handle?: RefObject<RowsHandle>;
  onScroll?: (offset: number) => void;
  label?: string;
  /** Rows that stay although they are out of sight, by their place. */
  keepMounted?: number[];
}

interface Props<T> extends Common {
  data?: T[];
  children: ComponentChildren | ((one: T, at: number) => ComponentChildren);
}

const List = VList as unknown as FunctionComponent<Record<string, unknown>>;

export function Rows<T>({ handle, class: name, label, ...rest }: Props<T>) {
  return (
    <List ref={handle ?? null} className={name} aria-label={label} role="region" tabIndex={0} {...rest} />
  );
}
